import { oneOf } from '@/lib/filters.ts'
import { Segments } from '@/ui/tabs.tsx'

const ranges = [
  { key: '7d', label: '7 days' },
  { key: '31d', label: '31 days' },
] as const
type Days = (typeof ranges)[number]['key']

/** For `useFilters`. */
export const daysFilter = oneOf<Days>(
  ranges.map(({ key }) => key),
  '7d',
)

export interface DaysSwitchProps {
  readonly value: Days
  readonly onChange: (range: Days) => void
}

/** A switch between 7 and 31 days, the ranges of most reports of the API. */
export function DaysSwitch({ value, onChange }: DaysSwitchProps) {
  return <Segments label="Range" options={ranges} value={value} onChange={onChange} />
}
