import { Link } from '@tanstack/react-router'
import { cx } from '@/lib/cx.ts'
import { buttonStyle } from '@/ui/button.tsx'
import { Page } from '@/ui/page.tsx'

export default function NotFound() {
  return (
    <main className="flex h-full items-center justify-center text-center">
      <div>
        <Page
          title="There is no such page"
          note="The address may be mistyped, or the page may have moved."
        >
          <Link to="/" className={cx('justify-self-center', buttonStyle({ kind: 'primary' }))}>
            Go to the start
          </Link>
        </Page>
      </div>
    </main>
  )
}
