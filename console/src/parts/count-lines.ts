/** Counts the lines of a CSV as it comes: a line's end within quotes is none. */
export const openLineCount = (): ((text: string) => number) => {
  let isQuoted = false;
  let lines = 0;
  return (text) => {
    for (const character of text)
      if (character === '"') isQuoted = !isQuoted;
      else if (character === '\n' && !isQuoted) lines += 1;
    return lines;
  };
};
