/** An amount in dollars: "35" or "35.50". Prices are whole cents inside, so that no sum or comparison rounds. */
export function dollars(cents: number): string {
  return cents % 100 === 0 ? String(cents / 100) : (cents / 100).toFixed(2);
}
