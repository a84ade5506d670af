import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { Input } from '@/ui/field.tsx'

export interface SearchInputProps
  extends Pick<ComponentProps<'input'>, 'className' | 'placeholder'> {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/**
 * A search field that filters with each letter. `value` may lag behind, because it is in the URL.
 */
export function SearchInput({ label, value, onChange, ...rest }: SearchInputProps) {
  const [written, setWritten] = useState(value)
  const told = useRef<readonly string[]>([])
  useEffect(() => {
    const at = told.current.lastIndexOf(value)
    // An earlier text that now arrives from the URL is ignored; any other value replaces the input.
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
