// Package nexmark makes the events of Nexmark, the public benchmark of streaming SQL: persons, auctions and bids of an auction site.
package nexmark

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/batch"
)

// Tables are the three kinds of events.
func Tables() []string { return []string{"person", "auction", "bid"} }

// Columns are a table's columns; nil for a name that is none of Tables.
func Columns(table string) batch.Schema {
	text := map[string]string{
		"person":  "id BIGINT,name VARCHAR,emailAddress VARCHAR,creditCard VARCHAR,city VARCHAR,state VARCHAR,dateTime TIMESTAMP,extra VARCHAR",
		"auction": "id BIGINT,itemName VARCHAR,description VARCHAR,initialBid BIGINT,reserve BIGINT,dateTime TIMESTAMP,expires TIMESTAMP,seller BIGINT,category BIGINT,extra VARCHAR",
		"bid":     "auction BIGINT,bidder BIGINT,price BIGINT,channel VARCHAR,url VARCHAR,dateTime TIMESTAMP,extra VARCHAR",
	}[table]
	if text == "" {
		return nil
	}
	var out batch.Schema
	for _, c := range strings.Split(text, ",") {
		name, typ, _ := strings.Cut(c, " ")
		out = append(out, batch.Column{Name: name, Type: typ})
	}
	return out
}

// Options name a data set: equal options give equal rows on every machine.
type Options struct {
	Seed uint64
	Rate int64     // events per second of event time, at least 1
	Base time.Time // of event 0; whole milliseconds
}

// Generator makes events. It is not changed by that, so several goroutines may share it.
type Generator struct {
	options Options
	letters string
	hot     []channel
	cold    []channel
	first   []string
	last    []string
	cities  []string
	states  []string
}

type channel struct{ name, url string }

// Of 50 consecutive events the first is a person, the next three are auctions, the rest are bids.
const (
	block         = 50
	blockAuctions = 3
	firstID       = 1000
	activePersons = 1000
	openAuctions  = 100
	unborn        = 10 // how far ahead of its time an event may refer
	hotEvery      = 100
	coldChannels  = 10_000
	letterCount   = 1 << 20
	openEvents    = 1666 // an auction is open for up to twice the time of so many events
)

// New prepares a data set.
func New(o Options) *Generator {
	g := &Generator{options: o,
		first:  strings.Fields("Peter Paul Luke John Saul Vicky Kate Julie Sarah Deiter Walter"),
		last:   strings.Fields("Shultz Abrams Spencer White Bartels Walton Smith Jones Noris"),
		cities: strings.Split("Phoenix,Los Angeles,San Francisco,Boise,Portland,Bend,Redmond,Seattle,Kent,Cheyenne", ","),
		states: strings.Fields("AZ CA ID OR WA WY")}
	r := random(42 ^ o.Seed)
	letters := make([]byte, letterCount)
	for i := range letters {
		letters[i] = byte('a' + r.n(26))
	}
	g.letters = string(letters)
	for _, name := range []string{"Google", "Facebook", "Baidu", "Apple"} {
		g.hot = append(g.hot, channel{name, r.url()})
	}
	for i := range coldChannels {
		c := channel{fmt.Sprintf("channel-%d", i), r.url()}
		if r.n(10) > 0 {
			id := int64(int32(bits.Reverse32(uint32(i))))
			c.url += "&channel_id=" + strconv.FormatInt(max(id, -id), 10)
		}
		g.cold = append(g.cold, c)
	}
	return g
}

// Table is the kind of an event.
func Table(event int64) string {
	switch rem := event % block; {
	case rem == 0:
		return "person"
	case rem <= blockAuctions:
		return "auction"
	}
	return "bid"
}

// millis is an event's time in milliseconds of Unix time.
func (g *Generator) millis(event int64) int64 {
	return g.options.Base.UnixMilli() + int64(float64(event)*1e6/float64(g.options.Rate))/1000
}

func lastPerson(event int64) int64 { return event / block }

func lastAuction(event int64) int64 {
	q, rem := event/block, event%block
	if rem == 0 { // a person comes before its block's auctions
		return (q-1)*blockAuctions + 2
	}
	return q*blockAuctions + min(rem-1, 2)
}

func nearPerson(r *random, event int64) int64 {
	last := lastPerson(event)
	active := min(last+1, activePersons)
	return last + 1 - active + r.n(active+unborn)
}

func nearAuction(r *random, event int64) int64 {
	last := lastAuction(event)
	low := max(last-openAuctions, 0)
	return low + r.n(last-low+1+unborn)
}

// Append appends an event as a line of JSON.
func (g *Generator) Append(out []byte, event int64) []byte {
	r := random(uint64(event)*0xD6E8FEB86659FD93 ^ g.options.Seed)
	l := line{out: append(out, '{')}
	switch Table(event) {
	case "person":
		g.person(&l, &r, event)
	case "auction":
		g.auction(&l, &r, event)
	default:
		g.bid(&l, &r, event)
	}
	l.out[len(l.out)-1] = '}'
	return append(l.out, '\n')
}

func (g *Generator) person(l *line, r *random, event int64) {
	name := g.first[r.n(int64(len(g.first)))] + " " + g.last[r.n(int64(len(g.last)))]
	email := r.text(7, ' ') + "@" + r.text(5, ' ') + ".com"
	card := make([]string, 4)
	for i := range card {
		card[i] = fmt.Sprintf("%04d", r.n(10_000))
	}
	number := strings.Join(card, " ")
	city, state := g.cities[r.n(int64(len(g.cities)))], g.states[r.n(int64(len(g.states)))]
	l.number("id", lastPerson(event)+firstID)
	l.text("name", name)
	l.text("emailAddress", email)
	l.text("creditCard", number)
	l.text("city", city)
	l.text("state", state)
	l.time("dateTime", g.millis(event))
	l.text("extra", g.extra(r, 8+len(name)+len(email)+len(number)+len(city)+len(state), 200))
}

func (g *Generator) auction(l *line, r *random, event int64) {
	seller := lastPerson(event) / hotEvery * hotEvery
	if r.n(4) == 0 {
		seller = nearPerson(r, event)
	}
	category, initial := 10+r.n(5), r.price()
	opened := g.millis(event)
	expires := opened + 1 + r.n(max(2*(g.millis(event+openEvents)-opened), 1))
	item, description := r.text(20, ' '), r.text(100, ' ')
	reserve := initial + r.price()
	l.number("id", lastAuction(event)+firstID)
	l.text("itemName", item)
	l.text("description", description)
	l.number("initialBid", initial)
	l.number("reserve", reserve)
	l.time("dateTime", opened)
	l.time("expires", expires)
	l.number("seller", seller+firstID)
	l.number("category", category)
	l.text("extra", g.extra(r, 48+len(item)+len(description), 500))
}

func (g *Generator) bid(l *line, r *random, event int64) {
	auction := lastAuction(event) / hotEvery * hotEvery
	if r.n(2) == 0 {
		auction = nearAuction(r, event)
	}
	bidder := lastPerson(event)/hotEvery*hotEvery + 1
	if r.n(4) == 0 {
		bidder = nearPerson(r, event)
	}
	price := r.price()
	var c channel
	if r.n(2) > 0 {
		c = g.hot[r.n(int64(len(g.hot)))]
	} else {
		c = g.cold[r.n(coldChannels)]
	}
	l.number("auction", auction+firstID)
	l.number("bidder", bidder+firstID)
	l.number("price", price)
	l.text("channel", c.name)
	l.text("url", c.url)
	l.time("dateTime", g.millis(event))
	l.text("extra", g.extra(r, 32, 100))
}
