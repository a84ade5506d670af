import { Link } from '@tanstack/react-router'
import { changesBetween } from '@/lib/changes.ts'
import { dateTime } from '@/lib/format.ts'
import {
  actorOf,
  type Entry,
  isEvent,
  nameOf,
  objectNames,
  pageOf,
  verbOf,
} from '@/pages/audit-log/query.ts'
import { Changes } from '@/ui/changes.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { Fact, Id } from '@/ui/fact.tsx'

const linkStyle = 'text-accent-text hover:underline'

export interface EntrySheetProps {
  readonly entry: Entry | undefined
  readonly onClose: () => void
}

/** One entry: a change with the values before and after, or another event. */
export function EntrySheet({ entry, onClose }: EntrySheetProps) {
  return (
    <Sheet
      open={entry !== undefined}
      onClose={onClose}
      title={entry === undefined ? '' : `${kindOf(entry)}: ${verbOf(entry)}`}
      description={entry && nameOf(entry)}
    >
      {entry !== undefined && (
        <div className="grid gap-4">
          <Facts entry={entry} onClose={onClose} />
          {!isEvent(entry) && <Difference entry={entry} />}
        </div>
      )}
    </Sheet>
  )
}

function Difference({ entry: { before, after } }: { entry: Entry }) {
  const changes = changesBetween(before ?? undefined, after ?? undefined)
  if (changes.length > 0) return <Changes title="What changed" changes={changes} />
  return <p className="text-muted">No recorded field changed.</p>
}

function Facts({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const page = pageOf(entry)
  return (
    <dl className="grid gap-x-6 gap-y-2.5 sm:grid-cols-2">
      <Fact label="Actor">
        {entry.actor_user_id === null ? (
          actorOf(entry)
        ) : (
          <Link
            to={`/identity/users/${entry.actor_user_id}` as '/identity/users'}
            search={{}}
            className={linkStyle}
          >
            {actorOf(entry)}
          </Link>
        )}
      </Fact>
      <Fact label="Time">{dateTime(entry.occurred_at)}</Fact>
      <Fact label="Action">{entry.action}</Fact>
      <Fact label={kindOf(entry)}>
        <Id id={entry.object_id} label="Copy ID" />
        <span className="flex flex-wrap gap-x-3">
          {page !== undefined && (
            <Link to={page as '/'} search={{}} className={linkStyle}>
              Open
            </Link>
          )}
          <Link
            to="/audit-log"
            search={{ object_kind: entry.object_kind, object_id: entry.object_id }}
            className={linkStyle}
            onClick={onClose}
          >
            History
          </Link>
        </span>
      </Fact>
      {entry.outcome !== null && <Fact label="Outcome">{entry.outcome}</Fact>}
      {entry.occurrences > 1 && <Fact label="Occurrences">{entry.occurrences}</Fact>}
      {entry.address !== null && <Fact label="IP address">{entry.address}</Fact>}
      {entry.user_agent !== null && <Fact label="User agent">{entry.user_agent}</Fact>}
      <Fact label="Request ID">
        <Id id={entry.request_id} label="Copy request ID" />
      </Fact>
    </dl>
  )
}

function kindOf({ object_kind }: Entry): string {
  const name = objectNames[object_kind] ?? object_kind
  return name.slice(0, 1).toUpperCase() + name.slice(1)
}
