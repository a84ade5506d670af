import type { TooltipContentProps } from 'recharts'

export interface ChartTipProps {
  readonly tip: Pick<TooltipContentProps, 'active' | 'label' | 'payload'>
  readonly moment: (at: string) => string
  readonly format: (value: number) => string
}

/** The tooltip of a chart. */
export function ChartTip({ tip, moment, format }: ChartTipProps) {
  if (!tip.active || tip.label === undefined) return null
  return (
    <div className="rounded-md border border-line bg-panel px-3 py-2 text-xs shadow-lg">
      <p className="mb-1 font-medium">{moment(String(tip.label))}</p>
      <ul className="grid gap-0.5">
        {tip.payload.map(({ dataKey, name, value, color }) => (
          <li key={String(dataKey)} className="flex items-center gap-2">
            <span
              aria-hidden
              className="size-2 shrink-0 rounded-sm"
              style={{ background: color ?? 'currentColor' }}
            />
            <span className="max-w-48 truncate text-muted">{name}</span>
            <span className="ml-auto pl-3 font-medium">
              {typeof value === 'number' ? format(value) : 'n/a'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
