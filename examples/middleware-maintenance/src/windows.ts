import type { Problem } from 'model-gateway/plugin'

export interface WrittenWindow {
  readonly from: string
  readonly until: string
  readonly models?: readonly string[]
}

/** Unix time in milliseconds; `until` is exclusive. */
export interface Window {
  readonly from: number
  readonly until: number
  /** Absent: all models. */
  readonly models: ReadonlySet<string> | undefined
}

/** The offset is required, because a local time depends on the machine. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** The configured windows, and the problems in them. */
export function readWindows(written: readonly WrittenWindow[]) {
  const problems: Problem[] = []
  const windows = written.map(({ from, until, models }, index): Window => {
    const read = (name: string, text: string) => {
      const at = RFC_3339.test(text) ? Date.parse(text) : Number.NaN
      if (Number.isNaN(at)) {
        const hint = 'write it with an offset: 2026-06-01T22:00:00Z'
        problems.push({ path: ['windows', index, name], message: 'is not a time', hint })
      }
      return at
    }
    const window = { from: read('from', from), until: read('until', until) }
    if (window.until <= window.from) {
      problems.push({ path: ['windows', index, 'until'], message: 'is not after from' })
    }
    return { ...window, models: models === undefined ? undefined : new Set(models) }
  })
  return { windows, problems }
}

/** The window that closes a model at a time; if several do, the one that ends last. */
export function closedBy(windows: readonly Window[], model: string, at: number) {
  return windows
    .filter(({ from, until }) => from <= at && at < until)
    .filter((window) => concerns(window, model))
    .reduce<Window | undefined>(
      (last, window) => (last === undefined || window.until > last.until ? window : last),
      undefined,
    )
}

/** The next window for a model that begins within `within` milliseconds. */
export function nextFor(windows: readonly Window[], model: string, at: number, within: number) {
  return windows
    .filter(({ from }) => at < from && from <= at + within)
    .filter((window) => concerns(window, model))
    .reduce<Window | undefined>(
      (first, window) => (first === undefined || window.from < first.from ? window : first),
      undefined,
    )
}

function concerns({ models }: Window, model: string): boolean {
  return models?.has(model) ?? true
}
