import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { bytes, count, duration } from '@/lib/format.ts'
import { PackList } from '@/pages/guardrails/packs.tsx'
import { type Policies, phaseNames, scopeName } from '@/pages/guardrails/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { EmptyState, Notice } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

const linkStyle = 'text-accent-text hover:underline'
const EXAMPLE = `guardrails:
  default:
    enabled: true
    mode: audit
    packs: [core.git, core.filesystem]`

/** The policies: which traffic they evaluate, with which packs, and in which mode. */
export function PolicyList() {
  const query = useGet('/api/v1/admin/guardrails/policies', {})
  return (
    <Loaded query={query}>
      {(data) => (
        <>
          {data.policies.every(({ enabled }) => !enabled) && (
            <Notice title="Guardrails are off: no policy is enabled">
              Enable a policy in the config file. In mode audit it only records what it would have
              denied:
              <pre className="mt-1 overflow-x-auto font-mono text-xs">{EXAMPLE}</pre>
            </Notice>
          )}
          <Card
            padded={false}
            title="Policies"
            note={
              <span className="inline-flex flex-wrap items-center gap-1">
                Read-only. Edit the config file and reload to change policies. Decisions are kept
                for {count(data.decisions_retention_days)} days
              </span>
            }
            actions={
              <span className="flex items-center gap-1 text-xs text-muted">
                Config
                <code className="block max-w-24 truncate font-mono" title={data.config_version}>
                  {data.config_version}
                </code>
                <CopyButton text={data.config_version} label="Copy config version" />
              </span>
            }
          >
            <Table aria-label="Policies">
              <thead>
                <tr>
                  <Th>Scope</Th>
                  <Th>State</Th>
                  <Th>Mode</Th>
                  <Th>Packs</Th>
                  <Th>Managed checks</Th>
                  <Th>Stream buffer</Th>
                  <Th>
                    <span className="sr-only">Links</span>
                  </Th>
                </tr>
              </thead>
              <tbody>
                {data.policies.map((policy) => (
                  <PolicyRow key={policy.scope} policy={policy} />
                ))}
              </tbody>
            </Table>
          </Card>
          <Checks data={data} />
          <PackList data={data} />
        </>
      )}
    </Loaded>
  )
}

function PolicyRow({ policy }: { policy: Policies['policies'][number] }) {
  const { scope, enabled, mode, on_deny, packs, managed_checks } = policy
  return (
    <Tr>
      <Td className="max-w-80 min-w-48 font-medium whitespace-normal [overflow-wrap:anywhere]">
        {scopeName(scope)}
        {scope === 'global' && (
          <span className="block text-xs font-normal text-muted">
            for all routes and servers without their own policy
          </span>
        )}
      </Td>
      <Td>{enabled ? <Badge tone="good">enabled</Badge> : <Badge>off</Badge>}</Td>
      <Td>
        {enabled ? (
          <Badge tone={mode === 'deny' ? 'bad' : 'warn'}>
            {mode === 'audit'
              ? 'audit only'
              : on_deny === 'error'
                ? 'deny: error'
                : 'deny: refusal'}
          </Badge>
        ) : (
          <span className="text-muted">{mode}</span>
        )}
      </Td>
      <Td className="min-w-40 whitespace-normal">{packs.join(', ') || 'none'}</Td>
      <Td className="whitespace-normal">{managed_checks.join(', ') || 'none'}</Td>
      <Td>
        {bytes(policy.stream_buffer_bytes)}, {duration(policy.stream_buffer_timeout_ms)}
      </Td>
      <Td>
        <span className="flex gap-3">
          <Link to="/guardrails" search={{ scope }} className={linkStyle}>
            Decisions
          </Link>
          <Link
            to={'/guardrails/explain' as '/guardrails'}
            search={{ scope }}
            className={linkStyle}
          >
            Explain
          </Link>
        </span>
      </Td>
    </Tr>
  )
}

function Checks({ data: { managed_checks } }: { data: Policies }) {
  return (
    <Card padded={false} title="Managed checks" note="services that evaluate texts">
      {managed_checks.length === 0 ? (
        <EmptyState title="No managed checks">
          Configure services that evaluate prompts and replies under guardrails.managed_checks in
          the config file.
        </EmptyState>
      ) : (
        <Table aria-label="Managed checks">
          <thead>
            <tr>
              <Th>Check</Th>
              <Th>Kind</Th>
              <Th>Phases</Th>
              <Th>On failure</Th>
              <Th className="text-right">Timeout</Th>
              <Th className="text-right">Max size</Th>
              <Th>
                <span className="sr-only">Links</span>
              </Th>
            </tr>
          </thead>
          <tbody>
            {managed_checks.map((check) => (
              <Tr key={check.name}>
                <Td className="font-medium">{check.name}</Td>
                <Td>{check.kind}</Td>
                <Td className="whitespace-normal">
                  {check.phases.map((phase) => phaseNames[phase]).join(', ')}
                </Td>
                <Td>
                  <Badge tone={check.failure_disposition === 'fail_closed' ? 'bad' : 'warn'}>
                    {check.failure_disposition === 'fail_closed' ? 'block' : 'allow'}
                  </Badge>
                </Td>
                <Td className="text-right">{duration(check.timeout_ms)}</Td>
                <Td className="text-right">{bytes(check.max_content_bytes)}</Td>
                <Td>
                  <Link to="/guardrails" search={{ evaluator: check.name }} className={linkStyle}>
                    Decisions
                  </Link>
                </Td>
              </Tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  )
}
