import { DecimalString, Type } from 'model-gateway/plugin'
import { oneOf } from './schema.ts'

/** A budget in a config: of a user or service account, or of all who have none of their own. */
export const Budget = Type.Object(
  {
    cadence: oneOf(['daily', 'weekly', 'monthly'], { description: 'How long a window is' }),
    amount_usd: DecimalString({ description: 'What may be spent in a window' }),
    hard_limit: Type.Boolean({
      default: true,
      description: 'true: refuses calls once it is used up',
    }),
    unpriced: oneOf(['allow', 'refuse'], {
      default: 'allow',
      description:
        'refuse: calls that cannot be priced exactly are refused, as soon as that is known. Others count as nothing',
    }),
    timezone: Type.String({ default: 'UTC', description: 'Kept, not used: windows are in UTC' }),
  },
  { additionalProperties: false },
)
