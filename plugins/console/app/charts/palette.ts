const COLORS = 8

/** The theme's colour of the series at an index. */
export function colorOf(index: number): string {
  return `var(--chart-${(index % COLORS) + 1})`
}

/** The colours of errors, and of “All others”. */
export const badColor = 'var(--bad-strong)'
export const restColor = 'var(--chart-8)'
