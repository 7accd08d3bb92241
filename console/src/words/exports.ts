/** The words of a list's export and of what is done with a whole list. */
export const exportsEn = {
  start: 'CSV',
  startLabel: 'Save the whole list as CSV, with these filters',
  rows: (count: string) => `${count} rows`,
  stop: 'Stop',
  done: (count: string) => `${count} rows saved`,
  failed: 'The list was not saved',
};

export const exportsRu: typeof exportsEn = {
  start: 'CSV',
  startLabel: 'Сохранить весь список в CSV с этими фильтрами',
  rows: (count) => `строк: ${count}`,
  stop: 'Остановить',
  done: (count) => `сохранено строк: ${count}`,
  failed: 'Список не сохранён',
};
