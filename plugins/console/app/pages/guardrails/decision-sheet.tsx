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

/** All that is kept of a decision, and what its rule is about. */
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
              <p className="mt-0.5 text-muted">Safer: {rule.safer_action}</p>
            </div>
          )}
          <Facts decision={decision} onClose={onClose} />
          <p className="text-muted">
            What was judged is not kept, only its SHA-256: who has the text can tell whether it was
            this one.
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
        <span className="text-muted"> under mode {decision.mode}</span>
      </Fact>
      <Fact label="When">{dateTime(decision.occurred_at)}</Fact>
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
      <Fact label="Judged by">
        {decision.evaluator}
        {decision.managed_service !== null && (
          <span className="text-muted"> ({decision.managed_service})</span>
        )}
      </Fact>
      <Fact label="Rule">{decision.rule_id ?? 'none'}</Fact>
      <Fact label="Reason">{decision.reason_code}</Fact>
      <Fact label="Took">{took(decision.latency_ms)}</Fact>
      <Fact label="Where it could not judge">
        {decision.failure_disposition === null
          ? 'it could'
          : decision.failure_disposition === 'fail_open'
            ? 'let pass (fail open)'
            : 'held back (fail closed)'}
      </Fact>
      <Fact label="Transformation">{decision.transformation}</Fact>
      <Fact label="Request id">
        <Id id={decision.request_id} label="Copy the request id" />
        <span className="flex flex-wrap gap-x-3">
          {decision.phase !== 'harness_pre_tool' && !isMcp(decision.phase) && (
            <Link to="/requests" search={{ request_id: decision.request_id }} className={linkStyle}>
              its request
            </Link>
          )}
          <Link
            to="/guardrails"
            search={{ request_id: decision.request_id }}
            className={linkStyle}
            onClick={onClose}
          >
            its decisions
          </Link>
          {decision.mcp_invocation_id !== null && (
            <Link
              to={`/mcp/invocations/${decision.mcp_invocation_id}` as '/mcp'}
              search={{}}
              className={linkStyle}
            >
              its tool call
            </Link>
          )}
        </span>
      </Fact>
      <Fact label="SHA-256 of what was judged">
        <Id id={decision.content_sha256} label="Copy the SHA-256" />
      </Fact>
      <Fact label="Config version">
        <Id id={decision.config_version} label="Copy the config version" />
      </Fact>
    </dl>
  )
}
