/** Payments as the service takes them. */
import type { RequestedPayment } from "./review.ts";

/** Payments as the API has them. */
export const paymentBodies = (payments: readonly RequestedPayment[]) =>
  payments.map(({ address, lovelace, assets }) => ({
    address,
    amount: { quantity: lovelace, unit: "lovelace" },
    ...(assets.size === 0 ? {} : {
      assets: [...assets].map(([asset, quantity]) => ({
        policy_id: asset.slice(0, 56),
        asset_name: asset.slice(56),
        quantity,
      })),
    }),
  }));
