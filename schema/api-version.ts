/** The date of the API (docs/contract.md#version). */
export const apiVersion = '2026-05-06';
