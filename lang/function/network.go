package function

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"

	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
)

func networks() map[string]ctyfunction.Function {
	prefix := ctyfunction.Parameter{Name: "prefix", Type: cty.String}
	number := func(name string) ctyfunction.Parameter { return ctyfunction.Parameter{Name: name, Type: cty.Number} }
	return map[string]ctyfunction.Function{
		"cidrhost": ctyfunction.New(&ctyfunction.Spec{
			Params: []ctyfunction.Parameter{prefix, number("hostnum")},
			Type:   ctyfunction.StaticReturnType(cty.String),
			Impl:   cidrhost,
		}),
		"cidrnetmask": textFunc("prefix", cidrnetmask),
		"cidrsubnet": ctyfunction.New(&ctyfunction.Spec{
			Params: []ctyfunction.Parameter{prefix, number("newbits"), number("netnum")},
			Type:   ctyfunction.StaticReturnType(cty.String),
			Impl:   cidrsubnet,
		}),
		"cidrsubnets": ctyfunction.New(&ctyfunction.Spec{
			Params:   []ctyfunction.Parameter{prefix},
			VarParam: &ctyfunction.Parameter{Name: "newbits", Type: cty.Number},
			Type:     ctyfunction.StaticReturnType(cty.List(cty.String)),
			Impl:     cidrsubnets,
		}),
	}
}

func parsePrefix(v cty.Value) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(v.AsString())
	if err != nil {
		return p, ctyfunction.NewArgErrorf(0, "%q is not a network such as 10.0.0.0/8", v.AsString())
	}
	return p.Masked(), nil
}

func wholeNumber(v cty.Value, arg int) (*big.Int, error) {
	n, acc := v.AsBigFloat().Int(nil)
	if acc != big.Exact {
		return nil, ctyfunction.NewArgErrorf(arg, "a whole number is required")
	}
	return n, nil
}

// offset adds n shifted left by shift bits to the first address of p. Past the last
// address of all it begins again at the first.
func offset(p netip.Prefix, n *big.Int, shift int) netip.Addr {
	sum := new(big.Int).SetBytes(p.Addr().AsSlice())
	sum.Add(sum, new(big.Int).Lsh(n, uint(shift)))
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen())))
	raw := sum.FillBytes(make([]byte, p.Addr().BitLen()/8))
	a, _ := netip.AddrFromSlice(raw) // as long as an address, so it always is one
	return a
}

func cidrhost(args []cty.Value, _ cty.Type) (cty.Value, error) {
	p, err := parsePrefix(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	n, err := wholeNumber(args[1], 1)
	if err != nil {
		return cty.NilVal, err
	}
	size := new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
	if n.Sign() < 0 { // counted from the end
		n = new(big.Int).Add(size, n)
	}
	if n.Sign() < 0 || n.Cmp(size) >= 0 {
		return cty.NilVal, ctyfunction.NewArgErrorf(1, "%s has only %s addresses", p, size)
	}
	return cty.StringVal(offset(p, n, 0).String()), nil
}

func cidrnetmask(text string) (string, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4() {
		return "", fmt.Errorf("%q is not an IPv4 network such as 10.0.0.0/8", text)
	}
	ones, _ := netip.MustParseAddr("255.255.255.255").Prefix(p.Bits())
	return ones.Addr().String(), nil
}

func cidrsubnet(args []cty.Value, _ cty.Type) (cty.Value, error) {
	p, err := parsePrefix(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	bits, err := newBits(p, args[1], 1)
	if err != nil {
		return cty.NilVal, err
	}
	n, err := wholeNumber(args[2], 2)
	if err != nil {
		return cty.NilVal, err
	}
	if n.Sign() < 0 || n.BitLen() > bits-p.Bits() {
		return cty.NilVal, ctyfunction.NewArgErrorf(2, "%d more bits do not number a network %s", bits-p.Bits(), n)
	}
	sub := netip.PrefixFrom(offset(p, n, p.Addr().BitLen()-bits), bits)
	return cty.StringVal(sub.String()), nil
}

// newBits is the length of a network with v more bits than p.
func newBits(p netip.Prefix, v cty.Value, arg int) (int, error) {
	n, err := wholeNumber(v, arg)
	if err != nil {
		return 0, err
	}
	if !n.IsInt64() || n.Int64() < 0 || n.Int64() > int64(p.Addr().BitLen()-p.Bits()) {
		return 0, ctyfunction.NewArgErrorf(arg, "%s has no room for %s more bits", p, n)
	}
	return p.Bits() + int(n.Int64()), nil
}

func cidrsubnets(args []cty.Value, _ cty.Type) (cty.Value, error) {
	p, err := parsePrefix(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	var out []cty.Value
	next := p.Addr()
	for i, v := range args[1:] {
		bits, err := newBits(p, v, i+1)
		if err != nil {
			return cty.NilVal, err
		}
		sub, err := next.Prefix(bits)
		if err != nil {
			return cty.NilVal, err
		}
		if sub.Addr() != next { // start at the next boundary of this size
			sub = netip.PrefixFrom(offset(sub, big.NewInt(1), next.BitLen()-bits), bits)
		}
		if !p.Contains(sub.Addr()) || sub.Addr().Less(next) {
			return cty.NilVal, ctyfunction.NewArgError(i+1, errors.New("the networks do not fit"))
		}
		out = append(out, cty.StringVal(sub.String()))
		next = offset(sub, big.NewInt(1), next.BitLen()-bits)
		if next.Less(sub.Addr()) && i < len(args)-2 {
			return cty.NilVal, ctyfunction.NewArgError(i+2, errors.New("the networks do not fit"))
		}
	}
	if out == nil {
		return cty.ListValEmpty(cty.String), nil
	}
	return cty.ListVal(out), nil
}
