import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useGet } from '@/api/query.ts'
import { duration, NOT_KNOWN, usd, usdExact } from '@/lib/format.ts'
import { ownKey } from '@/lib/own-key.ts'
import { sessionQuery } from '@/lib/session.ts'
import { useSmallModels } from '@/lib/small-models.ts'
import type { Model } from '@/pages/models/page.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Checkbox, Field, Input, Select } from '@/ui/field.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'
import {
  type LiveAnswer,
  type LiveCall,
  liveCallsFor,
  makeLiveCall,
} from '../../../../_shared/live-check.ts'

export interface LiveCheckProps {
  /** One model or the models of a provider; at least one. */
  readonly models: readonly Model[]
}

/** A button for one cheap call of a model on each API that its route supports. */
export function LiveCheck({ models }: LiveCheckProps) {
  const [open, setOpen] = useState(false)
  const usable = models.filter(({ routes }) => routes.some(({ enabled }) => enabled))
  if (usable.length === 0) return null
  return (
    <>
      <Button size="sm" onClick={() => setOpen(true)}>
        Live check
      </Button>
      {open && <CheckDialog models={usable} onClose={() => setOpen(false)} />}
    </>
  )
}

/** A call with its answer; undefined: still running. */
type Row = readonly [call: LiveCall, answer: LiveAnswer | undefined]

function CheckDialog({ models, onClose }: LiveCheckProps & { readonly onClose: () => void }) {
  const { data: user } = useQuery(sessionQuery)
  const { data: types } = useGet('/api/v1/admin/provider-types', {})
  const smallModels = useSmallModels()
  const [chosen, setChosen] = useState(models[0]?.model_key ?? '')
  const [wanted, setWanted] = useState('')
  const [costly, setCostly] = useState(false)
  const [rows, setRows] = useState<readonly Row[]>()
  const [error, setError] = useState<Error>()
  const model = models.find(({ model_key }) => model_key === chosen)
  const route = model?.routes.find(({ enabled }) => enabled)
  const isWildcard = chosen.includes('*')
  const small = smallModels.get(route?.provider_key ?? '') ?? ''
  const part = wanted || small
  const name = chosen.replace('*', part)
  const calls = liveCallsFor({
    capabilities: route?.effective_capabilities ?? {},
    upstreamModel: route?.upstream_model.replace('*', part) ?? '',
    surfaces: types?.surfaces,
  }).filter((call) => costly || call.costly !== true)

  async function run() {
    setError(undefined)
    const done: Row[] = calls.map((call) => [call, undefined])
    setRows([...done])
    try {
      const key = await ownKey(user?.user_id ?? '')
      const send = (path: string, init: RequestInit) => {
        const headers = new Headers(init.headers)
        headers.set('authorization', `Bearer ${key}`)
        return fetch(path, { ...init, headers, credentials: 'omit' })
      }
      for (const [index, call] of calls.entries()) {
        done[index] = [call, await makeLiveCall(call, name, send)]
        setRows([...done])
      }
    } catch (cause) {
      setRows(undefined)
      setError(cause as Error)
    }
  }
  const running = rows?.some(([, answer]) => answer === undefined) === true
  return (
    <Dialog
      open
      onClose={onClose}
      title="Live check"
      description="Makes one small call per API with your account. The calls are charged and logged like any other"
      className="w-[min(52rem,calc(100vw-2rem))]"
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            disabled={running || calls.length === 0 || (isWildcard && part === '')}
            onClick={() => void run()}
          >
            {rows === undefined ? 'Run check' : 'Run again'}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Model">
            {(control) => (
              <Select
                {...control}
                className="w-full"
                value={chosen}
                onChange={({ target }) => {
                  setChosen(target.value)
                  setRows(undefined)
                }}
              >
                {models.map(({ model_key }) => (
                  <option key={model_key} value={model_key}>
                    {model_key}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {isWildcard && (
            <Field label="Model name for *" hint={name}>
              {(control) => (
                <Input
                  {...control}
                  placeholder={small}
                  value={wanted}
                  onChange={({ target }) => setWanted(target.value.trim())}
                />
              )}
            </Field>
          )}
        </div>
        <Checkbox
          label="Include image generation (costs a few cents)"
          checked={costly}
          onChange={({ target }) => setCostly(target.checked)}
        />
        {error !== undefined && <ErrorPanel error={error} />}
        {calls.length === 0 && (
          <EmptyState title="Nothing to check">
            The live check has no call for the APIs of this model.
          </EmptyState>
        )}
        {rows !== undefined && <Answers rows={rows} />}
      </div>
    </Dialog>
  )
}

function Answers({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <div className="overflow-x-auto">
      <Table aria-label="Results">
        <thead>
          <tr>
            <Th>API</Th>
            <Th>Result</Th>
            <Th>Response</Th>
            <Th className="text-right">Latency</Th>
            <Th className="text-right">Cost</Th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([call, answer]) => (
            <Tr key={call.id}>
              <Td className="font-medium whitespace-nowrap">{call.id}</Td>
              <Td>
                {answer === undefined ? (
                  <span className="text-muted">…</span>
                ) : (
                  <Badge tone={answer.ok ? 'good' : 'bad'}>{answer.ok ? 'works' : 'fails'}</Badge>
                )}
              </Td>
              <Td className="min-w-48 whitespace-normal [overflow-wrap:anywhere]">
                {answer?.said}
                {answer?.fix !== undefined && <span className="text-muted"> — {answer.fix}</span>}
              </Td>
              <Td className="text-right">{answer === undefined ? '' : duration(answer.ms)}</Td>
              <Td className="text-right">
                {answer?.requestId !== undefined && <Cost requestId={answer.requestId} />}
              </Td>
            </Tr>
          ))}
        </tbody>
      </Table>
    </div>
  )
}

const LOOK_AGAIN_MS = 500
const LONGEST_MS = 10_000

/** The cost from the request log, which is written after a short delay. */
function Cost({ requestId }: { readonly requestId: string }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LONGEST_MS)
    return () => clearTimeout(timer)
  }, [])
  const { data } = useGet(
    '/api/v1/admin/observability/request-logs',
    { query: { request_id: requestId } },
    {
      staleTime: 0,
      refetchInterval: ({ state }) =>
        late || (state.data?.items.length ?? 0) > 0 ? false : LOOK_AGAIN_MS,
    },
  )
  const log = data?.items[0]
  if (log === undefined) return <span className="text-muted">{late ? NOT_KNOWN : '…'}</span>
  if (log.cost_usd === null) return <span className="text-muted">no price</span>
  return <span title={usdExact(log.cost_usd)}>{usd(log.cost_usd)}</span>
}
