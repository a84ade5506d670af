import type { ReactNode } from 'react'

/** A section of a sheet, with its heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid gap-2">
      <h3 className="border-b border-line pb-1 font-semibold">{title}</h3>
      {children}
    </section>
  )
}
