/** The date of the API. Contract, "Versioning". */
export const apiVersion = '2026-05-06';
