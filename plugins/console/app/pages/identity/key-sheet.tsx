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
      title={query.data === undefined ? 'API key' : `The key “${query.data.name}”`}
      description={query.data && `of ${query.data.owner.name}`}
    >
      <Loaded query={query}>
        {(key) => (
          <div className="grid gap-4">
            {key.status !== 'revoked' && (
              <div className="flex flex-wrap gap-2">
                <Button kind="primary" size="sm" onClick={() => onEdit(key)}>
                  Change
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
                  title={`Revoke the key “${key.name}” of ${key.owner.name}?`}
                  consequence={<RevokeConsequence />}
                  done="The key is revoked"
                  act={() => take(api.POST('/api/v1/admin/api-keys/{api_key_id}/revoke', call))}
                  invalidate={invalidateIdentity}
                />
              </div>
            )}
            {key.previous_secret_until !== null && (
              <Notice title="The secret before the rotation is still taken">
                Until {dateTime(key.previous_secret_until)} ({ago(key.previous_secret_until)}).
                Rotate once more without grace to end it now.
              </Notice>
            )}
            <KeyFacts apiKey={key} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}

/** What a revocation does, wherever it is asked for. */
export function RevokeConsequence() {
  return (
    <p>
      Whoever calls with it is refused within a second, on every replica, also with a secret from
      before a rotation. A revoked key cannot be brought back; issue another one instead.
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
          'Begins with',
          <code key="id" className="font-mono">
            gwk_{key.public_id}
          </code>,
        ],
        ['Grants', grantText(key)],
        ['MCP servers', serversText(key)],
        ['Expires', when(key.expires_at, 'never')],
        ['Last used', when(key.last_used_at, 'never')],
        ['Rotated', when(key.rotated_at, 'never')],
        ...(key.revoked_at === null ? [] : [['Revoked', when(key.revoked_at, '')] as const]),
        ['From', key.from_config ? 'the config file' : 'this console or the API'],
        ['Issued', when(key.created_at, '')],
      ]}
    />
  )
}
