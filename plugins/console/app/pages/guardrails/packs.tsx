import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { count } from '@/lib/format.ts'
import { type Policies, phaseNames, scopeName } from '@/pages/guardrails/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

/** All loaded packs with their rules. */
export function PackList({ data }: { data: Policies }) {
  return (
    <Card padded={false} title="Packs" note={`${count(data.packs.length)} loaded`}>
      {data.packs.length === 0 && (
        <EmptyState title="No packs are loaded">
          Add the plugins of packs under plugins in the config file.
        </EmptyState>
      )}
      <ul>
        {data.packs.map((pack) => (
          <PackItem
            key={pack.id}
            pack={pack}
            users={data.policies
              .filter(({ packs, enabled }) => enabled && packs.includes(pack.id))
              .map(({ scope }) => scopeName(scope))}
          />
        ))}
      </ul>
    </Card>
  )
}

interface PackItemProps {
  readonly pack: Policies['packs'][number]
  /** The names of the policies that use it. */
  readonly users: readonly string[]
}

function PackItem({ pack, users }: PackItemProps) {
  const [open, setOpen] = useState(false)
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <li className="border-b border-line last:border-b-0">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-left hover:bg-raised/60 focus-visible:-outline-offset-2"
        onClick={() => setOpen(!open)}
      >
        <Chevron aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="font-medium">{pack.id}</span>
        <span className="min-w-0 flex-1 basis-60 text-muted">{pack.summary}</span>
        <span className="text-xs text-muted">
          {count(pack.rules.length)} rules, version {pack.version}
        </span>
        {users.length === 0 ? (
          <Badge>not used</Badge>
        ) : (
          <Badge tone="good">
            {users.length === 1 ? 'in 1 policy' : `in ${users.length} policies`}
          </Badge>
        )}
      </button>
      {open && <Rules pack={pack} users={users} />}
    </li>
  )
}

function Rules({ pack, users }: PackItemProps) {
  return (
    <div className="grid gap-2 border-t border-line pb-2">
      <p className="px-4 pt-2 text-muted">
        Phases: {pack.phases.map((phase) => phaseNames[phase]).join(', ')}.
        {users.length > 0 && ` Used by: ${users.join('; ')}.`}{' '}
        <Link
          to="/guardrails"
          search={{ evaluator: pack.id }}
          className="text-accent-text hover:underline"
        >
          View decisions
        </Link>
      </p>
      <Table aria-label={`Rules of ${pack.id}`}>
        <thead>
          <tr>
            <Th>Rule</Th>
            <Th>Description</Th>
            <Th>Safer alternative</Th>
            <Th>Reason code</Th>
          </tr>
        </thead>
        <tbody>
          {pack.rules.map((rule) => (
            <Tr key={rule.id}>
              <Td className="font-medium">{rule.id}</Td>
              <Td className="min-w-48 whitespace-normal">{rule.description}</Td>
              <Td className="min-w-48 whitespace-normal text-muted">{rule.safer_action}</Td>
              <Td>{rule.reason_code}</Td>
            </Tr>
          ))}
        </tbody>
      </Table>
    </div>
  )
}
