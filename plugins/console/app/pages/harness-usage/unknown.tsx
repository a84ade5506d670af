import { useState } from 'react'
import { api, take, takeNothing } from '@/api/client.ts'
import { type Data, invalidate, useGet } from '@/api/query.ts'
import { ago, count, date, dateTime } from '@/lib/format.ts'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { DoButton } from '@/ui/do-button.tsx'
import { Field, Input } from '@/ui/field.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'
import { Visible } from '@/ui/visible.tsx'

const CALLERS = '/api/v1/admin/observability/unknown-callers'
const NAMES = '/api/v1/admin/observability/harness-names'

type Caller = Data<typeof CALLERS>['items'][number]
type Name = Data<typeof NAMES>['items'][number]

const invalidateNames = () => invalidate(CALLERS, NAMES)

/** Callers that no rule recognises, and the names that admins gave them. */
export function UnknownCallers() {
  const callers = useGet(CALLERS, {})
  const names = useGet(NAMES, {})
  const [chosen, setChosen] = useState<Caller>()
  return (
    <>
      {callers.data !== undefined && callers.data.items.length > 0 && (
        <Card
          title="Unknown callers"
          note="recent requests, grouped by the part of the User-Agent before the version"
          padded={false}
        >
          <Callers callers={callers.data.items} onName={setChosen} />
        </Card>
      )}
      {names.data !== undefined && names.data.items.length > 0 && (
        <Card title="Custom names" note="apply to new requests only" padded={false}>
          <Names names={names.data.items} />
        </Card>
      )}
      {chosen !== undefined && <NameForm caller={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

interface CallersProps {
  readonly callers: readonly Caller[]
  readonly onName: (caller: Caller) => void
}

function Callers({ callers, onName }: CallersProps) {
  return (
    <Table aria-label="Unknown callers">
      <thead>
        <tr>
          <Th>User-Agent</Th>
          <Th className="text-right">Requests</Th>
          <Th>Last seen</Th>
          <Th className="w-20">
            <span className="sr-only">Name caller</span>
          </Th>
        </tr>
      </thead>
      <tbody>
        {callers.map((caller) => (
          <Tr key={caller.starts}>
            <Td className="max-w-96 truncate">
              <Visible text={caller.user_agent} />
            </Td>
            <Td className="text-right">{count(caller.request_count)}</Td>
            <Td title={dateTime(caller.last_seen_at)}>{ago(caller.last_seen_at)}</Td>
            <Td className="text-right">
              <Button size="sm" onClick={() => onName(caller)}>
                Name
              </Button>
            </Td>
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}

function Names({ names }: { names: readonly Name[] }) {
  return (
    <Table aria-label="Custom names">
      <thead>
        <tr>
          <Th>User-Agents that start with</Th>
          <Th>Name</Th>
          <Th>Since</Th>
          <Th className="w-20">
            <span className="sr-only">Remove</span>
          </Th>
        </tr>
      </thead>
      <tbody>
        {names.map(({ starts, agent_harness_label: label, created_at }) => (
          <Tr key={starts}>
            <Td className="max-w-96 truncate">
              <Visible text={starts} />
            </Td>
            <Td className="max-w-64 truncate font-medium">
              <Visible text={label} />
            </Td>
            <Td>{date(created_at)}</Td>
            <Td className="text-right">
              <DoButton
                action="Remove"
                title={`Remove the name ${label}?`}
                consequence="New requests from these callers are shown as unknown again. Requests that are already logged keep the name."
                done={`Removed ${label}`}
                act={() => takeNothing(api.POST(`${NAMES}/remove`, { body: { starts } }))}
                invalidate={invalidateNames}
              />
            </Td>
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}

function NameForm({ caller, onClose }: { caller: Caller; onClose: () => void }) {
  const [label, setLabel] = useState(nameIn(caller.user_agent))
  return (
    <SaveDialog
      title="Name a caller"
      description={`For requests whose User-Agent starts with ${caller.starts}`}
      action="Save"
      ready={label.trim() !== ''}
      done={`Saved ${label}`}
      save={() => take(api.PUT(NAMES, { body: { starts: caller.starts, label } }))}
      invalidate={invalidateNames}
      onSaved={onClose}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint="Use the name of a known coding agent to count these requests as that agent"
      >
        {(control) => (
          <Input
            {...control}
            required
            maxLength={64}
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
        )}
      </Field>
    </SaveDialog>
  )
}

/** The part before the version, which is usually a good name. */
function nameIn(userAgent: string): string {
  return (/^[^0-9]*/.exec(userAgent)?.[0] ?? '').replace(/[\s/_-]+$/, '').slice(0, 64)
}
