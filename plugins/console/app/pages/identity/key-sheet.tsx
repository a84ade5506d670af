import { Link } from '@tanstack/react-router'
import { api, take } from '@/api/client.ts'
import { useGet } from '@/api/query.ts'
import { ago, dateTime } from '@/lib/format.ts'
import { FactList } from '@/pages/identity/facts.tsx'
import {
  type ApiKey,
  grantText,
  invalidateIdentity,
  Status,
  serversText,
} from '@/pages/identity/words.tsx'
import { Button } from '@/ui/button.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { DoButton } from '@/ui/do-button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { RotateKey } from '@/ui/rotate-key.tsx'

export interface KeySheetProps {
  readonly keyId: string | undefined
  readonly onClose: () => void
  readonly onEdit: (key: ApiKey) => void
}

export function KeySheet({ keyId = '', onClose, onEdit }: KeySheetProps) {
  const path = { api_key_id: keyId }
  const query = useGet('/api/v1/admin/api-keys/{api_key_id}', { path }, { enabled: keyId !== '' })
  const call = { params: { path } }
  return (
    <Sheet
      open={keyId !== ''}
      onClose={onClose}
      title={query.data === undefined ? 'API key' : `API key “${query.data.name}”`}
      description={query.data && `Owner: ${query.data.owner.name}`}
    >
      <Loaded query={query}>
        {(key) => (
          <div className="grid gap-4">
            {key.status !== 'revoked' && (
              <div className="flex flex-wrap gap-2">
                <Button kind="primary" size="sm" onClick={() => onEdit(key)}>
                  Edit
                </Button>
                <RotateKey
                  name={key.name}
                  rotate={(grace_secs) =>
                    take(
                      api.POST('/api/v1/admin/api-keys/{api_key_id}/rotate', {
                        ...call,
                        body: { grace_secs },
                      }),
                    )
                  }
                  onDone={() => void invalidateIdentity()}
                />
                <DoButton
                  action="Revoke"
                  title={`Revoke API key “${key.name}” of ${key.owner.name}?`}
                  consequence={<RevokeConsequence />}
                  done="API key revoked"
                  act={() => take(api.POST('/api/v1/admin/api-keys/{api_key_id}/revoke', call))}
                  invalidate={invalidateIdentity}
                />
              </div>
            )}
            {key.previous_secret_until !== null && (
              <Notice title="The previous secret is still valid">
                Until {dateTime(key.previous_secret_until)} ({ago(key.previous_secret_until)}). To
                expire it now, rotate again and choose “Immediately”.
              </Notice>
            )}
            <KeyFacts apiKey={key} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}

/** What revoking a key does. */
export function RevokeConsequence() {
  return (
    <p>
      Calls with this key are rejected within a second on every replica, including calls with a
      previous secret. This cannot be undone; create a new key instead.
    </p>
  )
}

function KeyFacts({ apiKey: key }: { apiKey: ApiKey }) {
  const { owner } = key
  const search =
    owner.kind === 'user'
      ? { id: owner.user_id, page: 'users' }
      : { id: owner.service_account_id, page: 'service-accounts' }
  const when = (instant: string | null, none: string) =>
    instant === null ? none : dateTime(instant)
  return (
    <FactList
      rows={[
        ['Status', <Status key="status" status={key.status} />],
        [
          'Owner',
          <Link
            key="owner"
            to={`/identity/${search.page}/${search.id}` as '/identity/users'}
            className="font-medium hover:text-accent-text hover:underline"
          >
            {owner.name}
          </Link>,
        ],
        [
          'Prefix',
          <code key="id" className="font-mono">
            gwk_{key.public_id}
          </code>,
        ],
        ['Models', grantText(key)],
        ['MCP servers', serversText(key)],
        ['Expires', when(key.expires_at, 'never')],
        ['Last used', when(key.last_used_at, 'never')],
        ['Rotated', when(key.rotated_at, 'never')],
        ...(key.revoked_at === null ? [] : [['Revoked', when(key.revoked_at, '')] as const]),
        ['Source', key.from_config ? 'config file' : 'console or API'],
        ['Created', when(key.created_at, '')],
      ]}
    />
  )
}
