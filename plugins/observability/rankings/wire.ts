import { Type } from 'model-gateway/plugin'
import { Count, nullable, Text } from '../../_shared/schema.ts'
import { Usd } from '../_shared/frame.ts'

const Average = nullable(Type.Number())

export const Leader = Type.Object({
  rank: Count,
  user_id: Text,
  user_name: Text,
  total_spend_usd: Usd,
  total_requests: Type.Integer({ description: 'Requests in the ledger.' }),
  most_used_model: Type.String({
    description: 'The resolved model with the most requests; ties go to higher spend, then key.',
  }),
  tool_cardinality_averages: Type.Object(
    {
      exposed_tool_count: Average,
      invoked_tool_count: Average,
      referenced_mcp_server_count: Average,
      filtered_tool_count: Average,
    },
    { description: 'Average over the requests that recorded it; null: no request did.' },
  ),
})

export const HarnessLeader = Type.Object({
  rank: Count,
  agent_harness_key: Text,
  agent_harness_label: Text,
  request_count: Count,
})
