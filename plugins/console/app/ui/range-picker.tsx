import { useEffect, useState } from 'react'
import { cx } from '@/lib/cx.ts'
import { Input, Select } from '@/ui/field.tsx'

export interface Range {
  /** ISO timestamps; '' for an open end. */
  readonly start: string
  readonly end: string
}

const HOUR_MS = 3_600_000
const presets = [
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
  ['744', 'Last 31 days'],
] as const

export interface RangePickerProps {
  readonly label: string
  readonly value: Range
  readonly onChange: (range: Range) => void
}

/** A time range in UTC: all time, the last hours or days, or a custom range in minutes. */
export function RangePicker({ label, value, onChange }: RangePickerProps) {
  const custom = value.start !== '' || value.end !== ''
  function choose(choice: string) {
    if (choice === '') return onChange({ start: '', end: '' })
    const hours = choice === 'custom' ? 24 : Number(choice)
    const end = Date.now()
    onChange({
      start: new Date(end - hours * HOUR_MS).toISOString(),
      end: choice === 'custom' ? new Date(end).toISOString() : '',
    })
  }
  return (
    <span className={cx('inline-flex flex-wrap items-center gap-2', custom && 'max-sm:col-span-2')}>
      <Select
        aria-label={label}
        active={custom}
        value={custom ? 'custom' : ''}
        onChange={(event) => choose(event.target.value)}
        className="w-36 max-sm:w-full"
      >
        <option value="">All time</option>
        {presets.map(([hours, name]) => (
          <option key={hours} value={hours}>
            {name}
          </option>
        ))}
        <option value="custom">Custom range (UTC)</option>
      </Select>
      {custom && (
        <>
          <Minute
            label={`${label}: from`}
            value={value.start}
            onChange={(start) => onChange({ ...value, start })}
          />
          <span className="text-muted">to</span>
          <Minute
            label={`${label}: to`}
            value={value.end}
            onChange={(end) => onChange({ ...value, end })}
          />
        </>
      )}
    </span>
  )
}

interface MinuteProps {
  readonly label: string
  readonly value: string
  readonly onChange: (instant: string) => void
}

/**
 * A minute that is applied on Enter and on blur, because a half-typed value is invalid or another
 * time.
 */
function Minute({ label, value, onChange }: MinuteProps) {
  const shown = value === '' ? '' : new Date(value).toISOString().slice(0, 16)
  const [written, setWritten] = useState(shown)
  useEffect(() => setWritten(shown), [shown])
  function take({ value: text, validity }: HTMLInputElement) {
    if (validity.badInput || text === shown) return
    const at = Date.parse(`${text}Z`)
    if (text === '') onChange('')
    else if (!Number.isNaN(at)) onChange(new Date(at).toISOString())
  }
  return (
    <Input
      type="datetime-local"
      aria-label={label}
      className="w-48"
      value={written}
      onChange={({ target }) => setWritten(target.value)}
      onBlur={({ target }) => take(target)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') take(currentTarget)
      }}
    />
  )
}
