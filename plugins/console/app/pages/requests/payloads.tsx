import { useState } from 'react'
import { bytes, count } from '@/lib/format.ts'
import { isObject, textOfEvent, textOfReply } from '@/lib/stream-text.ts'
import type { RequestDetail } from '@/pages/requests/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Section } from '@/ui/section.tsx'
import { Segments } from '@/ui/tabs.tsx'

/** The recorded payloads of the request and the response, with secrets redacted. */
export function Payloads({ log }: { log: RequestDetail }) {
  const { payload, payload_policy: policy } = log
  if (payload === null) return null
  return (
    <>
      <Section title="Request payload">
        <Head
          value={payload.request}
          truncated={log.request_payload_truncated}
          limit={policy?.request_max_bytes}
        />
        <div className="rounded-md border border-line p-2">
          <JsonTree value={payload.request} open={3} />
        </div>
      </Section>
      <Section title="Response payload">
        <Head
          value={payload.response}
          truncated={log.response_payload_truncated}
          limit={policy?.response_max_bytes}
        />
        <Response response={payload.response} />
      </Section>
    </>
  )
}

interface HeadProps {
  readonly value: unknown
  readonly truncated: boolean
  readonly limit: number | undefined
}

function Head({ value, truncated, limit }: HeadProps) {
  const text = JSON.stringify(value, null, 2)
  const redacted = text.split('[redacted]').length - 1
  return (
    <div className="flex flex-wrap items-center gap-2 text-xs text-muted">
      {redacted > 0 && <Badge tone="warn">{count(redacted)} redacted</Badge>}
      {truncated ? <Badge tone="warn">truncated</Badge> : redacted === 0 && <span>complete</span>}
      {limit !== undefined && <span>limit {bytes(limit)}</span>}
      <CopyButton text={text} label="Copy JSON" />
    </div>
  )
}

const views = [
  { key: 'text', label: 'Text' },
  { key: 'json', label: 'JSON' },
] as const

function Response({ response }: { response: unknown }) {
  const [view, setView] = useState<'text' | 'json'>('text')
  const text = textOf(response)
  const events =
    isObject(response) && Array.isArray(response.events) ? response.events.length : undefined
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {text !== '' && <Segments label="View" options={views} value={view} onChange={setView} />}
        {events !== undefined && (
          <span className="text-xs text-muted">stream; {count(events)} events recorded</span>
        )}
      </div>
      <div className="rounded-md border border-line p-2">
        {view === 'text' && text !== '' ? (
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</p>
        ) : (
          <JsonTree value={response} open={2} />
        )}
      </div>
    </div>
  )
}

function textOf(response: unknown): string {
  if (!isObject(response)) return ''
  return Array.isArray(response.events)
    ? response.events.map(textOfEvent).join('')
    : textOfReply(response.body)
}
