import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

/** How one filter stands in the URL; what it cannot read becomes its default. */
export interface Filter<T> {
  read(text: string | undefined): T
  /** `undefined`: it is as by default and needs no place in the URL. */
  write(value: T): string | undefined
}

/** Any text; '' when it is not set. */
export const text: Filter<string> = {
  read: (value) => value ?? '',
  write: (value) => (value === '' ? undefined : value),
}

/** One of some words. */
export function oneOf<const T extends string>(words: readonly T[], usual: T): Filter<T> {
  return {
    read: (value) => words.find((word) => word === value) ?? usual,
    write: (value) => (value === usual ? undefined : value),
  }
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/i

/** An instant that the API takes; '' when it is not set. */
export const instant: Filter<string> = {
  read: (value = '') => (INSTANT.test(value) && !Number.isNaN(Date.parse(value)) ? value : ''),
  write: text.write,
}

/** A whole number from 1, such as a page. */
export const page: Filter<number> = {
  read: (value) => (/^[1-9]\d{0,8}$/.test(value ?? '') ? Number(value) : 1),
  write: (value) => (value === 1 ? undefined : String(value)),
}

export type Values<F> = { [K in keyof F]: F[K] extends Filter<infer T> ? T : never }

/** As nobody has set them: all filters but those that are named. */
export function usualOf<F extends Readonly<Record<string, Filter<unknown>>>, K extends keyof F>(
  filters: F,
  ...but: readonly K[]
): Omit<Values<F>, K> {
  const rest = Object.entries(filters).filter(([name]) => !but.some((one) => one === name))
  return Object.fromEntries(
    rest.map(([name, filter]) => [name, filter.read(undefined)]),
  ) as Values<F>
}

/** Whether any filter is set to something else. */
export function isNarrowed<V extends object>(values: V, usual: Partial<V>): boolean {
  return Object.entries(usual).some(([name, value]) => values[name as keyof V] !== value)
}

/**
 * The filters of a page, which live in its URL: a reload, a link and the back button keep them.
 * `filters` stands outside of the component. Another value than `page` goes back to page 1.
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

/** What stands behind the path of a page, in parts: `['SERVER', 'tools']` of `/mcp/SERVER/tools`. */
export function useSubPath(): readonly string[] {
  const { _splat = '' } = useParams({ strict: false }) as { readonly _splat?: string }
  return _splat.split('/').filter((part) => part !== '')
}
