import { Link } from '@tanstack/react-router'
import { cx } from '@/lib/cx.ts'
import { buttonStyle } from '@/ui/button.tsx'
import { Page } from '@/ui/page.tsx'

export default function NotFound() {
  return (
    <main className="flex h-full items-center justify-center text-center">
      <div>
        <Page title="Page not found" note="Check the address. The page may have moved.">
          <Link to="/" className={cx('justify-self-center', buttonStyle({ kind: 'primary' }))}>
            Go to start page
          </Link>
        </Page>
      </div>
    </main>
  )
}
