import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { isNarrowed, oneOf, page, text, useFilters, useSubPath, usualOf } from '@/lib/filters.ts'
import { ago, date } from '@/lib/format.ts'
import { nameColumn, statusColumn } from '@/pages/identity/columns.tsx'
import { KeyForm, type Saved } from '@/pages/identity/key-form.tsx'
import { KeySheet } from '@/pages/identity/key-sheet.tsx'
import { IdentityList, PAGE_SIZE, useOpen } from '@/pages/identity/list.tsx'
import { type ApiKey, grantText } from '@/pages/identity/words.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { IssuedKey } from '@/ui/issued-key.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerFilter, ownerOf } from '@/ui/owner-filter.tsx'
import { OwnerName } from '@/ui/owner-name.tsx'

const filters = {
  search: text,
  status: oneOf(['', 'active', 'expired', 'revoked'], ''),
  user_id: text,
  service_account_id: text,
  page,
}
const cleared = usualOf(filters, 'page')
const kinds = ['user', 'service_account'] as const
const statuses = [
  ['active', 'Active'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
] as const

const columns: readonly Column<ApiKey>[] = [
  { ...nameColumn, width: '1.4fr' },
  {
    key: 'owner',
    header: 'Owner',
    width: '1.5fr',
    sort: ({ owner }) => owner.name.toLowerCase(),
    cell: ({ owner }) => <OwnerName kind={owner.kind}>{owner.name}</OwnerName>,
  },
  {
    key: 'id',
    header: 'Prefix',
    width: '12.5rem',
    cell: ({ public_id }) => <code className="font-mono text-xs">gwk_{public_id}</code>,
  },
  {
    key: 'grants',
    header: 'Models',
    width: '1.4fr',
    cell: (key) => <span title={grantText(key)}>{grantText(key)}</span>,
  },
  statusColumn,
  {
    key: 'used',
    header: 'Last used',
    width: '7rem',
    sort: ({ last_used_at }) => last_used_at ?? '',
    cell: ({ last_used_at }) =>
      last_used_at === null ? <span className="text-muted">never</span> : ago(last_used_at),
  },
  {
    key: 'expires',
    header: 'Expires',
    width: '7rem',
    sort: ({ expires_at }) => expires_at ?? '~',
    cell: ({ expires_at }) =>
      expires_at === null ? <span className="text-muted">never</span> : date(expires_at),
  },
]

/** All API keys, with their owners, grants and expiry. */
export default function ApiKeys() {
  const [values, change] = useFilters(filters)
  const { status } = values
  const [chosen] = useSubPath()
  const show = useOpen('/identity/api-keys')
  const [edited, setEdited] = useState<ApiKey | null>()
  const [issued, setIssued] = useState<Saved>()
  const query = useGet(
    '/api/v1/admin/api-keys',
    { query: { ...values, search: values.search.trim(), page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <IdentityList
      title="API keys"
      note="Keys of users and service accounts. The gateway stores only a hash of each key"
      action="Create API key"
      onNew={() => setEdited(null)}
      values={values}
      change={change}
      searchLabel="Search keys by name"
      narrowed={isNarrowed(values, cleared)}
      onClear={() => change(cleared)}
      query={query}
      columns={columns}
      rowKey={({ api_key_id }) => api_key_id}
      onOpen={show}
      minWidth={1100}
      empty={
        <EmptyState title="No keys yet">
          Create a key for a user or a service account, then use it in a client.
        </EmptyState>
      }
      filters={
        <>
          <ChoiceFilter
            label="Status"
            any="Any status"
            className="w-36"
            options={statuses}
            value={status}
            onChange={(next) => change({ status: next })}
          />
          <OwnerFilter label="Owner" kinds={kinds} values={values} change={change} />
        </>
      }
    >
      <KeySheet keyId={chosen} onClose={() => show()} onEdit={setEdited} />
      {edited !== undefined && (
        <KeyForm
          apiKey={edited}
          owner={ownerOf(values)}
          onClose={() => setEdited(undefined)}
          onSaved={(saved) => {
            setEdited(undefined)
            if (saved.api_key === undefined) show(saved.api_key_id)
            else setIssued(saved)
          }}
        />
      )}
      <IssuedKey
        name={issued?.name ?? ''}
        value={issued?.api_key}
        onClose={() => setIssued(undefined)}
      />
    </IdentityList>
  )
}
