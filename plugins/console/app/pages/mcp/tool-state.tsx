import { Badge } from '@/ui/badge.tsx'

/** Whether callers can use a tool. */
export function ToolState({ active, offered }: { active: boolean; offered: boolean }) {
  if (!active) return <Badge>gone</Badge>
  return offered ? <Badge tone="good">on offer</Badge> : <Badge tone="warn">hidden</Badge>
}
