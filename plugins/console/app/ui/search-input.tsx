import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { Input } from '@/ui/field.tsx'

export interface SearchInputProps
  extends Pick<ComponentProps<'input'>, 'className' | 'placeholder'> {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/** A search that narrows with each letter. The value may follow later, as one in the address does. */
export function SearchInput({ label, value, onChange, ...rest }: SearchInputProps) {
  const [written, setWritten] = useState(value)
  const told = useRef<readonly string[]>([])
  useEffect(() => {
    const at = told.current.lastIndexOf(value)
    // An echo of what was written, which has gone on since; anything else comes from elsewhere.
    if (at === -1) setWritten(value)
    told.current = told.current.slice(at + 1)
  }, [value])
  return (
    <Input
      type="search"
      aria-label={label}
      maxLength={200}
      value={written}
      onChange={({ target }) => {
        told.current = [...told.current, target.value]
        setWritten(target.value)
        onChange(target.value)
      }}
      {...rest}
    />
  )
}
