/**
 * Penalties for leaving the reference policy, per token from d = log π_new − log π_ref on a token sampled from π_new
 * (Schulman, "Approximating KL divergence", 2020):
 *
 * | kind | value                                  | gradient in log π_new        |
 * | ---- | -------------------------------------- | ---------------------------- |
 * | k1   | d                                      | 1                            |
 * | abs  | |d|                                    | sign d                       |
 * | k2   | d² / 2                                 | d                            |
 * | k3   | e^(−d) + d − 1, clamped to [−10, 10]   | 1 − e^(−d), 0 where clamped  |
 *
 * k3's value is an unbiased estimate of the KL divergence on-policy but its gradient is not the gradient of that
 * divergence; k2's gradient is. A `+` behind a name takes the value of that kind and the gradient of k2.
 */
export const klKinds = ['k1', 'abs', 'k2', 'k3', 'k1+', 'abs+', 'k3+'] as const;
export type KlKind = (typeof klKinds)[number];

/** verl's names for the same kinds, as they stand in training configurations. */
export const klKindAliases: Readonly<Record<string, KlKind>> = {
  kl: 'k1',
  'kl+': 'k1+',
  mse: 'k2',
  low_var_kl: 'k3',
  'low_var_kl+': 'k3+',
};

/** The largest value of k3. */
export const klValueLimit = 10;
// e^(−d) of a distance below −20 would overflow float32; k3 is at its limit long before.
const exponentLimit = 20;

/** The penalty of one token. */
export function klValue(kind: KlKind, difference: number): number {
  switch (kind) {
    case 'k1':
    case 'k1+':
      return difference;
    case 'abs':
    case 'abs+':
      return Math.abs(difference);
    case 'k2':
      return difference ** 2 / 2;
    case 'k3':
    case 'k3+':
      return Math.min(k3(difference), klValueLimit);
  }
}

/** The derivative of the penalty of one token with respect to log π_new. */
export function klGradient(kind: KlKind, difference: number): number {
  switch (kind) {
    case 'k1':
      return 1;
    case 'abs':
      return Math.sign(difference);
    case 'k3':
      return k3(difference) > klValueLimit ? 0 : -Math.expm1(-difference);
    case 'k2':
    case 'k1+':
    case 'abs+':
    case 'k3+':
      return difference;
  }
}

// expm1 keeps the digits where d is small, the usual case.
function k3(difference: number): number {
  const d = Math.min(Math.max(difference, -exponentLimit), exponentLimit);
  return Math.expm1(-d) + d;
}
