import { useNavigate } from '@tanstack/react-router'
import { useSubPath } from '@/lib/filters.ts'
import { Decisions } from '@/pages/guardrails/decisions.tsx'
import { Explain } from '@/pages/guardrails/explain.tsx'
import { PolicyList } from '@/pages/guardrails/policies.tsx'
import { Page } from '@/ui/page.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const tabs = [
  { key: 'decisions', label: 'Decisions' },
  { key: 'policies', label: 'Policies' },
  { key: 'explain', label: 'Explain' },
] as const
type Shown = (typeof tabs)[number]['key']

/** Guardrail decisions, policies, and an explanation of any decision. */
export default function Guardrails() {
  const [part] = useSubPath()
  const navigate = useNavigate()
  const shown: Shown = tabs.find(({ key }) => key === part)?.key ?? 'decisions'
  return (
    <Page
      title="Guardrails"
      note="Decisions of guardrail policies. Edit policies in the config file"
    >
      <Tabs
        label="Guardrails"
        tabs={tabs}
        value={shown}
        onChange={(key) =>
          void navigate({
            to: (key === 'decisions' ? '/guardrails' : `/guardrails/${key}`) as '/guardrails',
            search: {},
          })
        }
      >
        <div className="grid gap-4">
          {shown === 'decisions' && <Decisions />}
          {shown === 'policies' && <PolicyList />}
          {shown === 'explain' && <Explain />}
        </div>
      </Tabs>
    </Page>
  )
}
