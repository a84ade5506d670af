import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { oneOf, page, text, useFilters } from '@/lib/filters.ts'
import { ago, date } from '@/lib/format.ts'
import { useSubPath } from '@/lib/sub-path.ts'
import { KeyForm, type Saved } from '@/pages/identity/key-form.tsx'
import { KeySheet } from '@/pages/identity/key-sheet.tsx'
import { IdentityList, PAGE_SIZE, useOpen } from '@/pages/identity/list.tsx'
import { type ApiKey, grantText, Status } from '@/pages/identity/words.tsx'
import { Badge } from '@/ui/badge.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { Select } from '@/ui/field.tsx'
import { IssuedKey } from '@/ui/issued-key.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerPicker } from '@/ui/owner-picker.tsx'

const filters = {
  search: text,
  status: oneOf(['', 'active', 'expired', 'revoked'], ''),
  user_id: text,
  service_account_id: text,
  page,
}
const kinds = ['user', 'service_account'] as const

const columns: readonly Column<ApiKey>[] = [
  {
    key: 'name',
    header: 'Name',
    sort: ({ name }) => name.toLowerCase(),
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    key: 'owner',
    header: 'Owner',
    width: '1.4fr',
    sort: ({ owner }) => owner.name.toLowerCase(),
    cell: ({ owner }) => (
      <span className="flex items-center gap-2">
        <span className="min-w-0 truncate">{owner.name}</span>
        {owner.kind === 'service_account' && <Badge>service</Badge>}
      </span>
    ),
  },
  {
    key: 'id',
    header: 'Begins with',
    width: '12.5rem',
    cell: ({ public_id }) => <code className="font-mono text-xs">gwk_{public_id}</code>,
  },
  {
    key: 'grants',
    header: 'Grants',
    width: '1.4fr',
    cell: (key) => <span title={grantText(key)}>{grantText(key)}</span>,
  },
  {
    key: 'status',
    header: 'Status',
    width: '6rem',
    sort: ({ status }) => status,
    cell: ({ status }) => <Status status={status} />,
  },
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

/** Every key: whose it is, what it grants, and until when. */
export default function ApiKeys() {
  const [values, change] = useFilters(filters)
  const { search, status, user_id, service_account_id } = values
  const [chosen] = useSubPath()
  const show = useOpen('/identity/api-keys')
  const [edited, setEdited] = useState<ApiKey | null>()
  const [issued, setIssued] = useState<Saved>()
  const query = useGet(
    '/api/v1/admin/api-keys',
    {
      query: {
        search: search.trim(),
        status: status === '' ? undefined : status,
        user_id,
        service_account_id,
        page: values.page,
        page_size: PAGE_SIZE,
      },
    },
    { placeholderData: (before) => before },
  )
  const owner =
    user_id !== ''
      ? ({ kind: 'user', id: user_id } as const)
      : service_account_id !== ''
        ? ({ kind: 'service_account', id: service_account_id } as const)
        : undefined
  return (
    <IdentityList
      title="API keys"
      note="What callers identify themselves with; the gateway keeps only a hash"
      action="Issue a key"
      onNew={() => setEdited(null)}
      search={search}
      searchLabel="Search keys by name"
      onSearch={(next) => change({ search: next })}
      narrowed={[search, status, user_id, service_account_id].some(Boolean)}
      query={query}
      columns={columns}
      rowKey={({ api_key_id }) => api_key_id}
      onOpen={({ api_key_id }) => show(api_key_id)}
      page={values.page}
      onPage={(next) => change({ page: next })}
      minWidth={1100}
      empty={
        <EmptyState title="No keys yet">
          Issue one for a user or a service account, and point a client at this gateway with it.
        </EmptyState>
      }
      filters={
        <>
          <Select
            aria-label="Status"
            className="w-36"
            value={status}
            onChange={({ target }) => change({ status: filters.status.read(target.value) })}
          >
            <option value="">Every status</option>
            <option value="active">Active</option>
            <option value="expired">Expired</option>
            <option value="revoked">Revoked</option>
          </Select>
          <OwnerPicker
            label="Owner"
            kinds={kinds}
            className="w-52"
            value={owner}
            onChange={(next) =>
              change({
                user_id: next?.kind === 'user' ? next.id : '',
                service_account_id: next?.kind === 'service_account' ? next.id : '',
              })
            }
          />
        </>
      }
    >
      <KeySheet keyId={chosen} onClose={() => show()} onEdit={setEdited} />
      {edited !== undefined && (
        <KeyForm
          apiKey={edited}
          owner={owner}
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
