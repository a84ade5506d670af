import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { useAll } from '@/api/query.ts'
import { sessionQuery, type User } from '@/lib/session.ts'
import { useSmallModels } from '@/lib/small-models.ts'
import { isWildcard } from '@/lib/wildcards.ts'
import { allClients, type Settings } from '@/pages/connect/blocks.ts'
import { Checklist } from '@/pages/connect/checklist.tsx'
import { SettingsCard } from '@/pages/connect/settings.tsx'
import { Card } from '@/ui/card.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Page } from '@/ui/page.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const NO_KEY = 'gwk_…'

/** The start page of a new gateway: a checklist, and the settings for each client and agent. */
export default function Connect() {
  const { data: user } = useQuery(sessionQuery)
  if (!user) return null
  const isAdmin = user.role === 'platform_admin'
  return (
    <Page title="Connect" note="Point a client or a coding agent at this gateway">
      {isAdmin ? <Admins user={user} /> : <Blocks user={user} known={nothing} />}
    </Page>
  )
}

const nothing: readonly string[] = []

function Admins({ user }: { readonly user: User }) {
  const { data } = useAll('/api/v1/admin/models', {})
  const smallModels = useSmallModels()
  const known = useMemo(
    () =>
      data?.items.flatMap(({ model_key, names, routes }) => {
        if (!isWildcard(model_key)) return [model_key]
        const small = smallModels.get(routes.find(({ enabled }) => enabled)?.provider_key ?? '')
        const name = small && model_key.replace('*', small)
        return names.find((one) => one === name) ?? names[0] ?? name ?? []
      }) ?? nothing,
    [data, smallModels],
  )
  return (
    <>
      <Checklist />
      <Blocks user={user} known={known} />
    </>
  )
}

interface BlocksProps {
  readonly user: User
  readonly known: readonly string[]
}

function Blocks({ user, known }: BlocksProps) {
  // The key is kept only here, not in the URL, a store or the query cache.
  const [settings, setSettings] = useState<Settings>({
    url: window.location.origin,
    key: '',
    model: '',
  })
  const [chosen, setChosen] = useState(allClients[0]?.key ?? '')
  const change = useCallback(
    (changes: Partial<Settings>) => setSettings((before) => ({ ...before, ...changes })),
    [],
  )
  const client = allClients.find(({ key }) => key === chosen)
  const block = client?.block({ ...settings, key: settings.key || NO_KEY }) ?? ''
  return (
    <>
      <SettingsCard user={user} settings={settings} change={change} known={known} />
      <Card padded={false} className="px-4 pb-4" aria-label="Clients">
        <div className="overflow-x-auto">
          <Tabs label="Client" tabs={allClients} value={chosen} onChange={setChosen}>
            <div className="relative mt-3">
              <pre
                // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
                tabIndex={0}
                className="overflow-x-auto rounded-md bg-raised p-3 pr-10 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
              >
                {block}
              </pre>
              <div className="absolute top-2 right-2">
                <CopyButton text={block} label="Copy" />
              </div>
            </div>
          </Tabs>
        </div>
      </Card>
    </>
  )
}
