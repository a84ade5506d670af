import { useState } from 'react'
import type { paths } from '@/api/schema.ts'
import { cx } from '@/lib/cx.ts'
import { count } from '@/lib/format.ts'
import { actionNames, phaseNames, scopeName, took } from '@/pages/guardrails/query.ts'
import { CommandTree, piecesOf } from '@/pages/guardrails/tree.tsx'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

type Explanation =
  paths['/api/v1/admin/guardrails/explain']['post']['responses'][200]['content']['application/json']['data']

export interface ExplainedProps {
  readonly answer: Explanation
  /** The packs that the user selected; undefined: the policy decides. */
  readonly chosen: readonly string[] | undefined
}

/** The verdict, then the details. */
export function Explained({ answer, chosen }: ExplainedProps) {
  const pieces = piecesOf(answer.tree)
  return (
    <>
      <Verdict answer={answer} chosen={chosen} />
      {answer.tree !== null && (
        <Card
          title="Parsed command"
          note={pieces.length === 0 ? undefined : '= resolved value, ? known only at run time'}
        >
          {pieces.length === 0 ? (
            <p className="text-muted">
              The command cannot be parsed: it is too long, nested too deeply, or contains a NUL
              character. Packs deny such commands.
            </p>
          ) : (
            <CommandTree pieces={pieces} />
          )}
        </Card>
      )}
      <Commands answer={answer} />
      <Packs answer={answer} chosen={chosen} />
      {chosen === undefined && <Evaluators answer={answer} />}
    </>
  )
}

type Match = NonNullable<Explanation['verdict']['matched_rule']>

function Verdict({ answer, chosen }: ExplainedProps) {
  const { verdict, enabled, mode, scope } = answer
  const match: Match | null =
    chosen === undefined
      ? verdict.matched_rule
      : (answer.packs.find((pack) => chosen.includes(pack.pack_id) && pack.match !== null)?.match ??
        null)
  const [word, tone]: readonly [string, Tone] =
    chosen === undefined
      ? actionNames[verdict.action]
      : match === null
        ? ['no match', 'good']
        : ['matched', 'bad']
  return (
    <section
      aria-label="Verdict"
      className={cx(
        'grid gap-2 rounded-lg border px-4 py-3',
        tone === 'bad' && 'border-bad-strong/40 bg-bad-soft',
        tone === 'warn' && 'border-warn/30 bg-warn-soft',
        tone === 'good' && 'border-good/30 bg-good-soft',
        tone === 'accent' && 'border-accent/30 bg-accent-soft',
      )}
    >
      <h2 className="text-base font-semibold first-letter:uppercase">{word}</h2>
      <p>
        {chosen !== undefined
          ? `With ${chosen.length === 0 ? 'no packs' : chosen.join(', ')}: a policy with these packs in mode deny would ${match === null ? 'allow' : 'deny'} this.`
          : !enabled
            ? `The policy ${scopeName(scope)} is not enabled, so it allows everything. The results of the packs are shown below.`
            : `Policy ${scopeName(scope)}, mode ${mode}${verdict.reason_code === null ? '' : `, reason ${verdict.reason_code}`}.${mode === 'audit' && verdict.action === 'audit' ? ' In mode deny this would be denied.' : ''}`}
      </p>
      {match !== null && <Rule match={match} />}
    </section>
  )
}

function Rule({ match }: { match: Match }) {
  return (
    <dl className="grid gap-x-4 gap-y-0.5 sm:grid-cols-[7rem_1fr]">
      <dt>Rule</dt>
      <dd className="font-medium">
        {match.pack_id} / {match.rule_id}
      </dd>
      <dt>Reason</dt>
      <dd>{match.description}</dd>
      <dt>Matched field</dt>
      <dd>
        <code className="font-mono text-xs">{match.matched_field}</code>
      </dd>
      <dt>Safer alternative</dt>
      <dd>{match.safer_action}</dd>
    </dl>
  )
}

interface ReadCommand {
  readonly words: readonly string[]
  readonly nesting: readonly string[]
  readonly redirects: readonly string[]
  readonly stdin: string
}

/** The commands that packs evaluate, nested and substituted ones included. */
function Commands({ answer }: { answer: Explanation }) {
  const commands = answer.packs.map(({ reading }) => commandsOf(reading)).find((one) => one.length)
  if (commands === undefined) return null
  return (
    <Card padded={false} title="Evaluated commands" note={count(commands.length)}>
      <Table aria-label="Evaluated commands">
        <thead>
          <tr>
            <Th>Command</Th>
            <Th>Run by</Th>
            <Th>Standard input</Th>
            <Th>Redirects</Th>
          </tr>
        </thead>
        <tbody>
          {commands.slice(0, MOST_COMMANDS).map(({ words, nesting, redirects, stdin }, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: commands of one reading, which never move
            <Tr key={n}>
              <Td className="font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
                {words.join(' ')}
              </Td>
              <Td>{nesting.join(' › ') || <span className="text-muted">top level</span>}</Td>
              <Td>{stdin === 'inherited' ? <span className="text-muted">none</span> : stdin}</Td>
              <Td className="font-mono text-xs">{redirects.join(' ')}</Td>
            </Tr>
          ))}
        </tbody>
      </Table>
      {commands.length > MOST_COMMANDS && (
        <p className="px-4 py-2 text-muted">and {count(commands.length - MOST_COMMANDS)} more</p>
      )}
    </Card>
  )
}

const MOST_COMMANDS = 100

/** The commands in a pack's reading; [] for third-party packs with another format. */
function commandsOf(reading: unknown): readonly ReadCommand[] {
  const { commands } = (reading ?? {}) as { commands?: unknown }
  if (!Array.isArray(commands)) return []
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
  return commands.map((command: Record<string, unknown> | null) => ({
    words: texts(command?.words),
    nesting: texts(command?.nesting),
    redirects: texts(command?.redirects),
    stdin: String(command?.stdin ?? ''),
  }))
}

function Packs({ answer, chosen }: ExplainedProps) {
  if (answer.packs.length === 0) {
    return (
      <Card title="Packs">
        <p className="text-muted">
          No pack evaluates this phase ({phaseNames[answer.phase]}). Packs evaluate commands and
          tool calls; managed checks evaluate texts.
        </p>
      </Card>
    )
  }
  return (
    <Card
      padded={false}
      title="Packs"
      note={`including packs that are not ${chosen === undefined ? 'in the policy' : 'selected'}`}
    >
      <Table aria-label="Packs">
        <thead>
          <tr>
            <Th>Pack</Th>
            <Th>{chosen === undefined ? 'In the policy' : 'Selected'}</Th>
            <Th>Match</Th>
            <Th>Rules</Th>
          </tr>
        </thead>
        <tbody>
          {answer.packs.map((pack) => {
            const counts = chosen === undefined ? pack.in_policy : chosen.includes(pack.pack_id)
            return (
              <Tr key={pack.pack_id}>
                <Td className="font-medium">{pack.pack_id}</Td>
                <Td>{counts ? 'yes' : <span className="text-muted">no</span>}</Td>
                <Td className="whitespace-normal">
                  {pack.match === null ? (
                    <span className="text-muted">none</span>
                  ) : (
                    <>
                      <Badge tone={counts ? 'bad' : 'plain'}>{pack.match.rule_id}</Badge>{' '}
                      {pack.match.description}
                    </>
                  )}
                </Td>
                <Td className="text-muted">{count(pack.rules.length)} evaluated</Td>
              </Tr>
            )
          })}
        </tbody>
      </Table>
      <Raw answer={answer} />
    </Card>
  )
}

function Raw({ answer }: { answer: Explanation }) {
  const [open, setOpen] = useState(false)
  return (
    <div className="border-t border-line px-4 py-2">
      <button
        type="button"
        aria-expanded={open}
        className="text-muted hover:text-ink hover:underline"
        onClick={() => setOpen(!open)}
      >
        {open ? 'Hide' : 'Show'} the parsed input of each pack
      </button>
      {open && (
        <JsonTree
          value={Object.fromEntries(answer.packs.map((pack) => [pack.pack_id, pack.reading]))}
          open={1}
        />
      )}
    </div>
  )
}

function Evaluators({ answer: { evaluators } }: { answer: Explanation }) {
  if (evaluators.length === 0) return null
  return (
    <Card padded={false} title="Decisions" note="as the policy would record them, in this order">
      <Table aria-label="Policy decisions">
        <thead>
          <tr>
            <Th>Evaluated by</Th>
            <Th>Decision</Th>
            <Th>Reason</Th>
            <Th className="text-right">Duration</Th>
          </tr>
        </thead>
        <tbody>
          {evaluators.map((one) => {
            const [word, tone] = actionNames[one.action]
            return (
              <Tr key={one.evaluator}>
                <Td className="font-medium">{one.evaluator}</Td>
                <Td>
                  <Badge tone={tone}>{word}</Badge>
                </Td>
                <Td>
                  {one.reason_code}
                  {one.failure_disposition !== null && (
                    <span className="text-warn"> {one.failure_disposition.replace('_', ' ')}</span>
                  )}
                </Td>
                <Td className="text-right">{took(one.latency_ms)}</Td>
              </Tr>
            )
          })}
        </tbody>
      </Table>
    </Card>
  )
}
