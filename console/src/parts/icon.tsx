/** Icons as strokes of 1.5 on a square of 16; they are hidden from screen readers. */
const paths = {
  home: 'M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H9.75V9.5h-3.5v4H3a.5.5 0 0 1-.5-.5z',
  payments:
    'M2 4.5A1.5 1.5 0 0 1 3.5 3h9A1.5 1.5 0 0 1 14 4.5v7a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11.5zM2 6.5h12M4.5 10h3',
  refunds: 'M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 1 1 0 7H7',
  receipts: 'M3.5 2.5v11l1.5-1 1.5 1 1.5-1 1.5 1 1.5-1 1.5 1v-11zM6 5.5h4M6 8h4',
  paylinks: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 0 1-4-4L5 7',
  subscriptions:
    'M13 6.5A5.25 5.25 0 0 0 3.5 5M3 9.5A5.25 5.25 0 0 0 12.5 11M3.25 2.5V5h2.5M12.75 13.5V11h-2.5',
  payouts:
    'M8 10.5v-8M4.75 5.5 8 2.25l3.25 3.25M2.5 10v2A1.5 1.5 0 0 0 4 13.5h8a1.5 1.5 0 0 0 1.5-1.5v-2',
  balance: 'M2.5 13.5h11M4 13V8.5M8 13V3M12 13V6',
  reports: 'M2.5 2.5v11h11M5 10.5l2.5-3 2 1.5 3.5-5',
  banks: 'M2.5 6 8 2.5 13.5 6zM4 6v5.5M8 6v5.5M12 6v5.5M2.5 13.5h11',
  webhooks:
    'M5.75 6.5a2.75 2.75 0 1 1 4.2.4L12 10.5M10.25 11.75a2.25 2.25 0 1 0 1.75-1.5M4.25 8.75a2.5 2.5 0 1 0 2.5 3h3.5',
  developers: 'm5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5l3.5 3.5-3.5 3.5M9 3 7 13',
  reconciliation: 'M2.5 4h6M2.5 8h4M2.5 12h4M9 11.5l2 2 3-4.5',
  alerts: 'M8 2.5 14 13H2zM8 6.5v3M8 11.25v.25',
  audit: 'M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2.5',
  merchants:
    'M2.5 6 3.5 3h9l1 3M3 6v7h10V6M2.5 6a1.8 1.8 0 0 0 3.67 0 1.8 1.8 0 0 0 3.66 0 1.8 1.8 0 0 0 3.67 0M6.5 13V9.5h3V13',
  policies: 'M2.5 5h6.5M12 5h1.5M2.5 11H4M7 11h6.5M10.5 3.25v3.5M5.5 9.25v3.5',
  search: 'M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.5 10.5l3 3',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5v-2A1 1 0 0 1 6.5 2.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2M3.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1z',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  expand: 'M9 2.5h4.5V7M13.5 2.5 8.5 7.5M7 13.5H2.5V9M2.5 13.5l5-5',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  sides: 'M2.5 3h11v10h-11zM6 3v10',
  person: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5a5 5 0 0 1 10 0',
  plus: 'M8 3v10M3 8h10',
  save: 'M8 2.5v8M4.75 7.25 8 10.5l3.25-3.25M2.5 13.5h11',
  down: 'm4 6.5 4 4 4-4',
} as const;

type IconName = keyof typeof paths;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
