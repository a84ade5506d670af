import type { Change } from '@/lib/changes.ts'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'
import { Visible } from '@/ui/visible.tsx'

const SHOWN_CHANGES = 60

/** The fields that differ, with their values before and after. */
export function Changes({ title, changes }: { title: string; changes: readonly Change[] }) {
  const more = changes.length - SHOWN_CHANGES
  return (
    <div className="grid gap-1">
      <h4 className="text-xs text-muted">{title}</h4>
      <Table aria-label={`${title}: changes`} className="text-xs">
        <thead>
          <tr>
            <Th>Field</Th>
            <Th>Before</Th>
            <Th>After</Th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, SHOWN_CHANGES).map(({ path, before, after }) => (
            <Tr key={path}>
              <Td className="font-mono whitespace-normal [overflow-wrap:anywhere]">{path}</Td>
              <Value value={before} className="text-bad" />
              <Value value={after} className="text-good" />
            </Tr>
          ))}
        </tbody>
      </Table>
      {more > 0 && <p className="text-muted">and {more} more</p>}
    </div>
  )
}

function Value({ value, className }: { value: string | undefined; className: string }) {
  return (
    <Td className="font-mono whitespace-normal [overflow-wrap:anywhere]">
      {value === undefined ? (
        <span className="text-muted">–</span>
      ) : (
        <span className={className}>
          <Visible text={value} />
        </span>
      )}
    </Td>
  )
}
