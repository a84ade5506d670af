const COLORS = 8

/** The colour of the series at a place, from the theme. */
export function colorOf(index: number): string {
  return `var(--chart-${(index % COLORS) + 1})`
}

/** The colour of what is wrong, and of all that has no name of its own. */
export const badColor = 'var(--bad-strong)'
export const restColor = 'var(--chart-8)'
