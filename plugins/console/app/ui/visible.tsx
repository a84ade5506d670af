import { visiblePieces } from '@/lib/hidden-text.ts'
import { Badge } from '@/ui/badge.tsx'

/** Text from outside, with invisible characters shown as their code points. */
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
