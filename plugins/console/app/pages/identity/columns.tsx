import { date } from '@/lib/format.ts'
import { Status } from '@/pages/identity/words.tsx'
import type { Column } from '@/ui/data-table.tsx'

export const nameColumn: Column<{ readonly name: string }> = {
  key: 'name',
  header: 'Name',
  width: '1.3fr',
  sort: ({ name }) => name.toLowerCase(),
  cell: ({ name }) => <span className="font-medium">{name}</span>,
}

export const statusColumn: Column<Parameters<typeof Status>[0]> = {
  key: 'status',
  header: 'Status',
  width: '6rem',
  sort: ({ status }) => status,
  cell: ({ status }) => <Status status={status} />,
}

export const sinceColumn: Column<{ readonly created_at: string }> = {
  key: 'created',
  header: 'Since',
  width: '7rem',
  sort: ({ created_at }) => created_at,
  cell: ({ created_at }) => date(created_at),
}
