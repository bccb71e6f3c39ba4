/** HGPO, arXiv:2602.22817, ALFWorld: share of steps with company at the state level and with four steps of history. */
export const paperUtilisation = [
  { k: 0, utilisation: 0.97 },
  { k: 4, utilisation: 0.19 },
] as const;
