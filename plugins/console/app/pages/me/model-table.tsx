import type { Data } from '@/api/query.ts'
import { count, percent, shareOf, usd, usdExact } from '@/lib/format.ts'
import { Card } from '@/ui/card.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

/** The same sums by requested model. */
export function ModelTable({ models }: Pick<Data<'/api/v1/me/spend'>, 'models'>) {
  const total = models.reduce((sum, { spend_usd }) => sum + Number(spend_usd), 0)
  const rows = models.toSorted((a, b) => Number(b.spend_usd) - Number(a.spend_usd))
  return (
    <Card title="By model" padded={false}>
      <Table aria-label="By model">
        <thead>
          <tr>
            <Th>Model</Th>
            <Th className="text-right">Spend</Th>
            <Th className="text-right">Share</Th>
            <Th className="text-right">Requests</Th>
            <Th className="text-right">Input tokens</Th>
            <Th className="text-right">Output tokens</Th>
          </tr>
        </thead>
        <tbody>
          {rows.map((model) => (
            <Tr key={`${model.model_key} ${model.resolved_model_key}`}>
              <Td className="max-w-72 truncate font-medium">
                {model.model_key}
                {model.model_key !== model.resolved_model_key && (
                  <span className="font-normal text-muted"> → {model.resolved_model_key}</span>
                )}
              </Td>
              <Td className="text-right" title={usdExact(model.spend_usd)}>
                {model.unpriced_count === model.request_count ? (
                  <span className="text-muted">no price</span>
                ) : (
                  usd(model.spend_usd)
                )}
              </Td>
              <Td className="text-right text-muted">
                {percent(shareOf(Number(model.spend_usd), total))}
              </Td>
              <Td className="text-right">{count(model.request_count)}</Td>
              <Td className="text-right">{count(model.prompt_tokens)}</Td>
              <Td className="text-right">{count(model.completion_tokens)}</Td>
            </Tr>
          ))}
        </tbody>
      </Table>
    </Card>
  )
}
