import { Link } from '@tanstack/react-router'
import { dateTime } from '@/lib/format.ts'
import {
  actionNames,
  type Decision,
  isMcp,
  type Policies,
  phaseNames,
  scopeName,
  took,
} from '@/pages/guardrails/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { Fact, Id } from '@/ui/fact.tsx'

const linkStyle = 'text-accent-text hover:underline'

export interface DecisionSheetProps {
  readonly decision: Decision | undefined
  readonly packs: Policies['packs'] | undefined
  readonly onClose: () => void
}

/** One decision, with the description of its rule. */
export function DecisionSheet({ decision, packs, onClose }: DecisionSheetProps) {
  const rule = packs
    ?.find(({ id }) => id === decision?.pack_id)
    ?.rules.find(({ id }) => id === decision?.rule_id)
  return (
    <Sheet
      open={decision !== undefined}
      onClose={onClose}
      title={`${decision?.evaluator ?? ''}: ${decision === undefined ? '' : actionNames[decision.action][0]}`}
    >
      {decision !== undefined && (
        <div className="grid gap-4">
          {rule !== undefined && (
            <div className="rounded-lg border border-line px-4 py-3">
              <p className="font-medium">{rule.description}</p>
              <p className="mt-0.5 text-muted">Safer alternative: {rule.safer_action}</p>
            </div>
          )}
          <Facts decision={decision} onClose={onClose} />
          <p className="text-muted">
            The evaluated content is not stored, only its SHA-256. Compare it with the hash of a
            text that you have.
          </p>
        </div>
      )}
    </Sheet>
  )
}

function Facts({ decision, onClose }: { decision: Decision; onClose: () => void }) {
  const [word, tone] = actionNames[decision.action]
  return (
    <dl className="grid gap-x-6 gap-y-2.5 sm:grid-cols-2">
      <Fact label="Decision">
        <Badge tone={tone}>{word}</Badge>
        <span className="text-muted"> in mode {decision.mode}</span>
      </Fact>
      <Fact label="Time">{dateTime(decision.occurred_at)}</Fact>
      <Fact label="Phase">{phaseNames[decision.phase]}</Fact>
      <Fact label="Policy">
        <Link
          to="/guardrails"
          search={{ scope: decision.scope }}
          className={linkStyle}
          onClick={onClose}
        >
          {scopeName(decision.scope)}
        </Link>
      </Fact>
      <Fact label="Evaluated by">
        {decision.evaluator}
        {decision.managed_service !== null && (
          <span className="text-muted"> ({decision.managed_service})</span>
        )}
      </Fact>
      <Fact label="Rule">{decision.rule_id ?? 'none'}</Fact>
      <Fact label="Reason">{decision.reason_code}</Fact>
      <Fact label="Duration">{took(decision.latency_ms)}</Fact>
      <Fact label="Evaluation failure">
        {decision.failure_disposition === null
          ? 'none'
          : decision.failure_disposition === 'fail_open'
            ? 'allowed (fail open)'
            : 'blocked (fail closed)'}
      </Fact>
      <Fact label="Transformation">{decision.transformation}</Fact>
      <Fact label="Request ID">
        <Id id={decision.request_id} label="Copy request ID" />
        <span className="flex flex-wrap gap-x-3">
          {decision.phase !== 'harness_pre_tool' && !isMcp(decision.phase) && (
            <Link to="/requests" search={{ request_id: decision.request_id }} className={linkStyle}>
              Request
            </Link>
          )}
          <Link
            to="/guardrails"
            search={{ request_id: decision.request_id }}
            className={linkStyle}
            onClick={onClose}
          >
            Decisions
          </Link>
          {decision.mcp_invocation_id !== null && (
            <Link
              to={`/mcp/invocations/${decision.mcp_invocation_id}` as '/mcp'}
              search={{}}
              className={linkStyle}
            >
              Tool call
            </Link>
          )}
        </span>
      </Fact>
      <Fact label="SHA-256 of the content">
        <Id id={decision.content_sha256} label="Copy SHA-256" />
      </Fact>
      <Fact label="Config version">
        <Id id={decision.config_version} label="Copy config version" />
      </Fact>
    </dl>
  )
}
