import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, take } from '@/api/client.ts'
import { useGet } from '@/api/query.ts'
import { oneOf, text, useFilters } from '@/lib/filters.ts'
import {
  argumentsOf,
  bodyOf,
  emptyDraft,
  examples,
  type Kind,
  kinds,
  phasesOf,
} from '@/pages/guardrails/draft.ts'
import { Explained } from '@/pages/guardrails/explained.tsx'
import { type Policies, phaseNames, scopeName } from '@/pages/guardrails/query.ts'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Checkbox, Field, Input, Select, Textarea } from '@/ui/field.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Segments } from '@/ui/tabs.tsx'

const filters = {
  kind: oneOf(
    kinds.map(({ key }) => key),
    'command',
  ),
  scope: text,
}
const PACKS = 'packs'

/**
 * Shows how packs evaluate a command, tool call or text, and what a policy decides. Nothing is
 * recorded.
 */
export function Explain() {
  const policies = useGet('/api/v1/admin/guardrails/policies', {}, { staleTime: 60_000 })
  return <Loaded query={policies}>{(data) => <Form policies={data} />}</Loaded>
}

function Form({ policies }: { policies: Policies }) {
  const [{ kind, scope: asked }, change] = useFilters(filters)
  const [draft, setDraft] = useState(emptyDraft)
  const [chosen, setChosen] = useState<readonly string[]>()
  const scope = asked === '' ? 'global' : asked
  const explain = useMutation({
    mutationFn: async () => ({
      answer: await take(
        api.POST('/api/v1/admin/guardrails/explain', { body: bodyOf(kind, draft, scope) }),
      ),
      chosen,
    }),
  })
  const set = (changes: Partial<typeof draft>) => setDraft({ ...draft, ...changes })
  const badArguments = kind === 'tool' && argumentsOf(draft) === undefined
  const options = phasesOf[kind]
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[26rem_1fr]">
      <Card title="Input" note="not stored">
        <form
          className="grid gap-3"
          onSubmit={(event: FormEvent) => {
            event.preventDefault()
            explain.mutate()
          }}
          onKeyDown={(event) => {
            const ready = !badArguments && !explain.isPending
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && ready) explain.mutate()
          }}
        >
          <div>
            <Segments
              label="Kind"
              options={kinds}
              value={kind}
              onChange={(next: Kind) => {
                change({ kind: next })
                set({ phase: '' })
                explain.reset()
              }}
            />
          </div>
          {kind === 'tool' && (
            <>
              <Field label="Tool">
                {(control) => (
                  <Input
                    {...control}
                    required
                    placeholder="run_command"
                    value={draft.tool}
                    onChange={({ target }) => set({ tool: target.value })}
                  />
                )}
              </Field>
              <Field
                label="Arguments (JSON)"
                problem={badArguments ? 'Must be a JSON object.' : undefined}
              >
                {(control) => (
                  <Textarea
                    {...control}
                    spellCheck={false}
                    className="min-h-28 font-mono text-xs"
                    value={draft.arguments}
                    onChange={({ target }) => set({ arguments: target.value })}
                  />
                )}
              </Field>
            </>
          )}
          {kind !== 'tool' && (
            <Field label={kinds.find(({ key }) => key === kind)?.label ?? ''}>
              {(control) => (
                <Textarea
                  {...control}
                  required
                  spellCheck={false}
                  placeholder={examples[kind]}
                  className="min-h-36 font-mono text-xs"
                  value={draft[kind]}
                  onChange={({ target }) => set({ [kind]: target.value })}
                />
              )}
            </Field>
          )}
          {(kind === 'tool' || kind === 'sql') && (
            <Field
              label="MCP server"
              hint={
                kind === 'sql'
                  ? 'The server key selects the SQL dialect: postgres, mysql, sqlite, …'
                  : 'Optional. Some packs evaluate only the tools of certain servers.'
              }
            >
              {(control) => (
                <Input
                  {...control}
                  required={kind === 'sql'}
                  value={kind === 'sql' ? draft.database : draft.server}
                  onChange={({ target }) =>
                    set(kind === 'sql' ? { database: target.value } : { server: target.value })
                  }
                />
              )}
            </Field>
          )}
          <Field label="Phase">
            {(control) => (
              <Select
                {...control}
                className="w-full"
                value={draft.phase === '' ? options[0] : draft.phase}
                onChange={({ target }) => set({ phase: target.value as typeof draft.phase })}
              >
                {options.map((phase) => (
                  <option key={phase} value={phase}>
                    {phaseNames[phase]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Evaluate with">
            {(control) => (
              <Select
                {...control}
                className="w-full"
                value={chosen === undefined ? scope : PACKS}
                onChange={({ target }) => {
                  const policy = policies.policies.find((one) => one.scope === scope)
                  if (target.value === PACKS) setChosen(policy?.packs ?? [])
                  else {
                    setChosen(undefined)
                    change({ scope: target.value === 'global' ? '' : target.value })
                  }
                }}
              >
                {[...new Set([...policies.policies.map((one) => one.scope), scope])].map((one) => (
                  <option key={one} value={one}>
                    Policy: {scopeName(one)}
                  </option>
                ))}
                <option value={PACKS}>Selected packs</option>
              </Select>
            )}
          </Field>
          {chosen !== undefined && (
            <fieldset className="grid gap-1">
              <legend className="mb-1 text-xs font-medium">Packs</legend>
              {policies.packs.map(({ id }) => (
                <Checkbox
                  key={id}
                  label={id}
                  checked={chosen.includes(id)}
                  onChange={({ target }) =>
                    setChosen(
                      target.checked ? [...chosen, id] : chosen.filter((other) => other !== id),
                    )
                  }
                />
              ))}
            </fieldset>
          )}
          <Button kind="primary" type="submit" disabled={explain.isPending || badArguments}>
            {explain.isPending ? 'Evaluating…' : 'Explain'}
          </Button>
        </form>
      </Card>
      <div className="grid min-w-0 gap-4" aria-live="polite">
        {explain.error && <ErrorPanel error={explain.error} onRetry={() => explain.mutate()} />}
        {explain.data === undefined ? (
          explain.error === null && <Hint />
        ) : (
          <Explained answer={explain.data.answer} chosen={explain.data.chosen} />
        )}
      </div>
    </div>
  )
}

function Hint() {
  return (
    <Card title="Explain a decision">
      <div className="grid gap-2 text-muted">
        <p>
          Paste a command to see the verdict, the rule behind it and how the command was parsed:
          pipelines, substitutions, redirects, values of variables and nested commands.
        </p>
        <p>
          The policy is evaluated as for a real call, managed checks included. Packs that are not in
          the policy are listed separately, so that you see what they would add.
        </p>
      </div>
    </Card>
  )
}
