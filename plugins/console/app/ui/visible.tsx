import { visiblePieces } from '@/lib/hidden-text.ts'
import { Badge } from '@/ui/badge.tsx'

/** A text of somebody else's; characters that nobody would see are shown by their numbers. */
export function Visible({ text }: { text: string }) {
  return (
    <bdi>
      {visiblePieces(text).map((piece, n) =>
        piece.hidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, which never move
          <Badge key={n} tone="bad">
            {piece.text}
          </Badge>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  )
}
