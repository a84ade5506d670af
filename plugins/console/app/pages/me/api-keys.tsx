import { api, take } from '@/api/client.ts'
import { useGet } from '@/api/query.ts'
import { page, useFilters } from '@/lib/filters.ts'
import { ago, date, dateTime } from '@/lib/format.ts'
import { RevokeConsequence } from '@/pages/identity/key-sheet.tsx'
import { type ApiKey, grantText, invalidateIdentity, Status } from '@/pages/identity/words.tsx'
import { Card } from '@/ui/card.tsx'
import { DoButton } from '@/ui/do-button.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'
import { RotateKey } from '@/ui/rotate-key.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

const filters = { page }
const PAGE_SIZE = 50

/** The API keys of the signed-in user, who can rotate and revoke them. Only admins create keys. */
export default function MyKeys() {
  const [values, change] = useFilters(filters)
  const query = useGet(
    '/api/v1/me/api-keys',
    { query: { page: values.page, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <Page title="My keys" note="API keys for your clients. Admins create them">
      <Loaded query={query}>
        {(data) => (
          <Card padded={false} aria-label="My keys">
            {data.total === 0 ? (
              <EmptyState title="No keys yet">
                Ask an admin for a key. The playground works with any key that you paste.
              </EmptyState>
            ) : (
              <Table aria-label="My keys">
                <thead>
                  <tr>
                    <Th>Name</Th>
                    <Th>Prefix</Th>
                    <Th>Models</Th>
                    <Th>Status</Th>
                    <Th>Last used</Th>
                    <Th>Expires</Th>
                    <Th>
                      <span className="sr-only">Rotate or revoke</span>
                    </Th>
                  </tr>
                </thead>
                <tbody>
                  {data.items.map((key) => (
                    <KeyRow key={key.api_key_id} apiKey={key} />
                  ))}
                </tbody>
              </Table>
            )}
            {(data.total > PAGE_SIZE || values.page > 1) && (
              <Pagination
                page={values.page}
                pageSize={PAGE_SIZE}
                total={data.total}
                onPage={(next) => change({ page: next })}
              />
            )}
          </Card>
        )}
      </Loaded>
    </Page>
  )
}

function KeyRow({ apiKey: key }: { apiKey: ApiKey }) {
  const call = { params: { path: { api_key_id: key.api_key_id } } }
  return (
    <Tr>
      <Td className="max-w-48 truncate font-medium">{key.name}</Td>
      <Td>
        <code className="font-mono text-xs">gwk_{key.public_id}</code>
      </Td>
      <Td className="max-w-64 truncate" title={grantText(key)}>
        {grantText(key)}
      </Td>
      <Td>
        <Status status={key.status} />
      </Td>
      <Td title={dateTime(key.last_used_at)}>
        {key.last_used_at === null ? 'never' : ago(key.last_used_at)}
      </Td>
      <Td title={dateTime(key.expires_at)}>
        {key.expires_at === null ? 'never' : date(key.expires_at)}
      </Td>
      <Td className="text-right">
        {key.status !== 'revoked' && (
          <span className="inline-flex gap-2">
            <RotateKey
              name={key.name}
              rotate={(grace_secs) =>
                take(
                  api.POST('/api/v1/me/api-keys/{api_key_id}/rotate', {
                    ...call,
                    body: { grace_secs },
                  }),
                )
              }
              onDone={() => void invalidateIdentity()}
            />
            <DoButton
              action="Revoke"
              title={`Revoke API key “${key.name}”?`}
              consequence={<RevokeConsequence />}
              done="API key revoked"
              act={() => take(api.POST('/api/v1/me/api-keys/{api_key_id}/revoke', call))}
              invalidate={invalidateIdentity}
            />
          </span>
        )}
      </Td>
    </Tr>
  )
}
