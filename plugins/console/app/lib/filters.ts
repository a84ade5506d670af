import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

/** How one filter is written to the URL and read from it; invalid texts give its default. */
export interface Filter<T> {
  read(text: string | undefined): T
  /** `undefined`: the value is the default and is left out of the URL. */
  write(value: T): string | undefined
}

/** Any text; '' when it is not set. */
export const text: Filter<string> = {
  read: (value) => value ?? '',
  write: (value) => (value === '' ? undefined : value),
}

/** One of several words. */
export function oneOf<const T extends string>(words: readonly T[], usual: T): Filter<T> {
  return {
    read: (value) => words.find((word) => word === value) ?? usual,
    write: (value) => (value === usual ? undefined : value),
  }
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/i

/** A timestamp that the API accepts; '' when it is not set. */
export const instant: Filter<string> = {
  read: (value = '') => (INSTANT.test(value) && !Number.isNaN(Date.parse(value)) ? value : ''),
  write: text.write,
}

/** An integer from 1, such as a page number. */
export const page: Filter<number> = {
  read: (value) => (/^[1-9]\d{0,8}$/.test(value ?? '') ? Number(value) : 1),
  write: (value) => (value === 1 ? undefined : String(value)),
}

export type Values<F> = { [K in keyof F]: F[K] extends Filter<infer T> ? T : never }

/** The default values of all filters except the named ones. */
export function usualOf<F extends Readonly<Record<string, Filter<unknown>>>, K extends keyof F>(
  filters: F,
  ...but: readonly K[]
): Omit<Values<F>, K> {
  const rest = Object.entries(filters).filter(([name]) => !but.some((one) => one === name))
  return Object.fromEntries(
    rest.map(([name, filter]) => [name, filter.read(undefined)]),
  ) as Values<F>
}

/** Whether any filter differs from its default. */
export function isNarrowed<V extends object>(values: V, usual: Partial<V>): boolean {
  return Object.entries(usual).some(([name, value]) => values[name as keyof V] !== value)
}

/**
 * The filters of a page, kept in its URL, so that reloads, links and the back button keep them.
 * Declare `filters` outside the component. A change of any filter other than `page` resets `page`
 * to 1.
 */
export function useFilters<const F extends Readonly<Record<string, Filter<unknown>>>>(filters: F) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const values = useMemo(
    () =>
      Object.fromEntries(
        Object.entries(filters).map(([name, filter]) => [name, filter.read(search[name])]),
      ) as Values<F>,
    [filters, search],
  )
  const change = useCallback(
    (changes: Partial<Values<F>>) => {
      void navigate({
        to: '.',
        replace: true,
        search: (before: Readonly<Record<string, string>>) => {
          const next: Record<string, string | undefined> = { ...before }
          if (!('page' in changes)) next.page = undefined
          for (const [name, value] of Object.entries(changes)) {
            next[name] = (filters[name] as Filter<unknown>).write(value)
          }
          return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined))
        },
      })
    },
    [filters, navigate],
  )
  return [values, change] as const
}

/** The path segments below a page's path: `['SERVER', 'tools']` for `/mcp/SERVER/tools`. */
export function useSubPath(): readonly string[] {
  const { _splat = '' } = useParams({ strict: false }) as { readonly _splat?: string }
  return _splat.split('/').filter((part) => part !== '')
}
