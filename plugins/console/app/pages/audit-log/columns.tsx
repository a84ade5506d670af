import { dateTime, dayTime } from '@/lib/format.ts'
import { actorOf, type Entry, nameOf, objectNames, verbOf } from '@/pages/audit-log/query.ts'
import type { Column } from '@/ui/data-table.tsx'

export const columns: readonly Column<Entry>[] = [
  {
    key: 'time',
    header: 'Time (UTC)',
    width: '9.75rem',
    cell: ({ occurred_at }) => <span title={dateTime(occurred_at)}>{dayTime(occurred_at)}</span>,
  },
  {
    key: 'actor',
    header: 'Actor',
    width: '1.2fr',
    cell: (entry) => <span title={actorOf(entry)}>{actorOf(entry)}</span>,
  },
  {
    key: 'action',
    header: 'Action',
    width: '9.5rem',
    cell: (entry) => <span title={entry.action}>{verbOf(entry)}</span>,
  },
  {
    key: 'outcome',
    header: 'Outcome',
    width: '9rem',
    cell: ({ outcome, occurrences }) => {
      const text = occurrences === 1 ? (outcome ?? '') : `${outcome} × ${occurrences}`
      return <span title={text}>{text}</span>
    },
  },
  {
    key: 'address',
    header: 'IP address',
    width: '8.5rem',
    cell: ({ address }) => <span title={address ?? ''}>{address}</span>,
  },
  {
    key: 'kind',
    header: 'Object',
    width: '8rem',
    cell: ({ object_kind }) => objectNames[object_kind] ?? object_kind,
  },
  {
    key: 'object',
    header: 'Name',
    width: '1.4fr',
    cell: (entry) => {
      const name = nameOf(entry)
      if (name !== undefined) return <span title={name}>{name}</span>
      return (
        <code className="font-mono text-xs" title={entry.object_id}>
          {entry.object_id}
        </code>
      )
    },
  },
]
