// Package nexmark makes the events of Nexmark, the public benchmark of streaming SQL: persons, auctions and bids of an auction site.
package nexmark
