import { Link } from '@tanstack/react-router'
import { buttonStyle } from '@/ui/button.tsx'
import { Page } from '@/ui/page.tsx'

export default function NotFound() {
  return (
    <main className="grid h-full place-items-center">
      <Page title="There is no such page">
        <p className="text-muted">The address may be mistyped, or the page may have moved.</p>
        <div>
          <Link to="/" className={buttonStyle({ kind: 'primary' })}>
            Go to the start
          </Link>
        </div>
      </Page>
    </main>
  )
}
