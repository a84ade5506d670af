import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { count } from '@/lib/format.ts'
import { modelsOf } from '@/pages/playground/call.ts'
import type { Form } from '@/pages/playground/form.ts'
import { Field, Input, Select } from '@/ui/field.tsx'

const WAIT_MS = 300

type Models =
  | { readonly state: 'none' | 'loading' }
  | { readonly state: 'known'; readonly ids: readonly string[] }
  | { readonly state: 'refused'; readonly message: string }

export interface CallerProps {
  readonly apiKey: string
  readonly onKey: (key: string) => void
  readonly form: Form
  readonly change: (changes: Partial<Form>) => void
}

/** The API key, and one of the models that it may use. */
export function Caller({ apiKey, onKey, form, change }: CallerProps) {
  const models = useModels(apiKey)
  const ids = models.state === 'known' ? models.ids : []
  const chosen = ids.includes(form.model) ? form.model : ''
  const first = ids[0]
  // biome-ignore lint/correctness/useExhaustiveDependencies: choose a model only when the list changes
  useEffect(() => change({ model: chosen === '' ? (first ?? '') : chosen }), [models])
  return (
    <>
      <Field
        label="API key"
        problem={models.state === 'refused' ? models.message : undefined}
        hint={
          <>
            Kept only in this window and cleared when you leave the page. See{' '}
            <Link to="/me/api-keys" className="text-accent-text underline">
              My keys
            </Link>
            .
          </>
        }
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="gwk_…"
            className="font-mono"
            value={apiKey}
            onChange={({ target }) => onKey(target.value.trim())}
          />
        )}
      </Field>
      <Field
        label="Model"
        hint={
          models.state === 'known'
            ? ids.length === 0
              ? 'This key grants no models. Ask an admin to grant some.'
              : `${count(ids.length)} available with this key`
            : models.state === 'loading'
              ? 'Loading models…'
              : 'Enter a key to list its models.'
        }
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            disabled={ids.length === 0}
            value={form.model}
            onChange={({ target }) => change({ model: target.value })}
          >
            {ids.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </>
  )
}

function useModels(key: string): Models {
  const [models, setModels] = useState<Models>({ state: 'none' })
  useEffect(() => {
    if (key === '') return setModels({ state: 'none' })
    const stop = new AbortController()
    setModels({ state: 'loading' })
    const timer = setTimeout(() => {
      modelsOf(key, stop.signal).then(
        (ids) => setModels({ state: 'known', ids }),
        (error: Error) => {
          if (!stop.signal.aborted) setModels({ state: 'refused', message: error.message })
        },
      )
    }, WAIT_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [key])
  return models
}
