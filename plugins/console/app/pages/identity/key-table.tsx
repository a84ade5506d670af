import { Link } from '@tanstack/react-router'
import { ago, date } from '@/lib/format.ts'
import { type ApiKey, grantText, Status } from '@/pages/identity/words.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

/** The keys of one owner. */
export function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <Table aria-label="API keys">
      <thead>
        <tr>
          <Th>Key</Th>
          <Th>Models</Th>
          <Th>Status</Th>
          <Th>Last used</Th>
          <Th>Expires</Th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <Tr key={key.api_key_id}>
            <Td className="max-w-48 truncate font-medium">
              <Link
                to={`/identity/api-keys/${key.api_key_id}` as '/identity/api-keys'}
                className="hover:text-accent-text hover:underline"
              >
                {key.name}
              </Link>
            </Td>
            <Td className="max-w-56 truncate" title={grantText(key)}>
              {grantText(key)}
            </Td>
            <Td>
              <Status status={key.status} />
            </Td>
            <Td>{key.last_used_at === null ? 'never' : ago(key.last_used_at)}</Td>
            <Td>{key.expires_at === null ? 'never' : date(key.expires_at)}</Td>
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}
