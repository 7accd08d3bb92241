/** Counts the lines of a streamed CSV; a line break within quotes does not count. */
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
