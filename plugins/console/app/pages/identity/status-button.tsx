import { invalidateIdentity } from '@/pages/identity/words.tsx'
import { DoButton } from '@/ui/do-button.tsx'

export interface StatusButtonProps {
  readonly of: { readonly name: string; readonly status: string }
  /** What enabling and disabling do. */
  readonly consequences: Readonly<Record<'enable' | 'disable', string>>
  readonly set: (status: 'active' | 'disabled') => Promise<unknown>
}

/** Enables a disabled user or service account; disables any other. */
export function StatusButton({ of: { name, status }, consequences, set }: StatusButtonProps) {
  return status === 'disabled' ? (
    <DoButton
      action="Enable"
      title={`Enable ${name}?`}
      consequence={consequences.enable}
      done={`${name} enabled`}
      act={() => set('active')}
      invalidate={invalidateIdentity}
    />
  ) : (
    <DoButton
      action="Disable"
      title={`Disable ${name}?`}
      consequence={consequences.disable}
      done={`${name} disabled`}
      act={() => set('disabled')}
      invalidate={invalidateIdentity}
    />
  )
}
