import { useEffect, useState } from 'react'
import type { FieldProblem } from '@/api/client.ts'
import { type Data, invalidate, useGet } from '@/api/query.ts'

export type ProviderType = Data<'/api/v1/admin/provider-types'>['items'][number]

/** A change of the managed file: a saved one, or a preview. */
export interface Changed {
  readonly file: string
  readonly yaml: string
  readonly problems: readonly (FieldProblem & { readonly severity: 'error' | 'warning' })[]
}

/** The content of the managed file, and whether it is writable. */
export function useManaged() {
  return useGet('/api/v1/admin/managed-config', {})
}

/** Refetches everything that shows the config. */
export function invalidateConfig(): Promise<void> {
  return invalidate(
    '/api/v1/admin/managed-config',
    '/api/v1/admin/models',
    '/api/v1/admin/providers',
  )
}

const WAIT_MS = 300

export interface Preview {
  readonly changed?: Changed
  readonly error?: Error
}

/** Validates an entry before it is saved, again on each change of `entry`. */
export function usePreview<T>(entry: T, ask: (entry: T) => Promise<Changed>): Preview {
  const [preview, setPreview] = useState<Preview>({})
  const text = JSON.stringify(entry)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `text` is `entry` as JSON
  useEffect(() => {
    let isLast = true
    const show = (next: Preview) => isLast && setPreview(next)
    const timer = setTimeout(() => {
      ask(entry).then(
        (changed) => show({ changed }),
        (error: Error) => show({ error }),
      )
    }, WAIT_MS)
    return () => {
      isLast = false
      clearTimeout(timer)
    }
  }, [text])
  return preview
}

/** The first problem of a field, with its hint. */
export function problemAt(field: string, problems: readonly FieldProblem[]): string | undefined {
  const found = problems.find((problem) => problem.field === field)
  if (found === undefined) return undefined
  return found.hint ? `${found.message} — ${found.hint}` : found.message
}
